package graft.deployment.descriptor.fabric;

import graft.common.bind.Form;
import graft.common.values.PciAddress;
import java.util.regex.Pattern;

/**
 * A physical function, by its RDMA device ({@code mlx5_0}) or its PCI address.
 *
 * @param rdma the RDMA device's name; null where the address is given
 * @param address the PCI address; null where the name is given
 */
@Form(pattern = "^[0-9a-z_.:]+$", example = "mlx5_0")
public record AdapterDevice(String rdma, PciAddress address) {
  private static final Pattern RDMA = Pattern.compile("[a-z][a-z0-9_]{1,62}");

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is neither
   */
  public static AdapterDevice parse(String text) {
    if (RDMA.matcher(text).matches()) {
      return new AdapterDevice(text, null);
    }
    try {
      return new AdapterDevice(null, PciAddress.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither an RDMA device like mlx5_0 nor a PCI address");
    }
  }

  @Override
  public String toString() {
    return rdma != null ? rdma : address.toString();
  }
}
