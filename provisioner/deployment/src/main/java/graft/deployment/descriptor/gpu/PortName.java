package graft.deployment.descriptor.gpu;

import graft.common.bind.Form;
import graft.common.values.MacAddress;
import graft.sriov.Guid;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A port of an RDMA device: by its GUID, by the MAC of an Ethernet port, or as UCX names it.
 *
 * @param text the form that client and server read: {@code 0x} and 16 digits, {@code
 *     02:00:00:00:00:01} or {@code mlx5_0:1}
 */
@Form(pattern = "^[0-9A-Za-z_.:-]+$", example = "mlx5_0:1")
public record PortName(String text) {
  private static final Pattern UCX = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}:[0-9]{1,3}");
  private static final Pattern MAC = Pattern.compile("([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}");

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is none of the three
   */
  public static PortName parse(String text) {
    if (UCX.matcher(text).matches()) {
      return new PortName(text);
    }
    if (MAC.matcher(text).matches()) {
      return of(MacAddress.parse(text.toLowerCase(Locale.ROOT)));
    }
    try {
      return of(Guid.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither the GUID nor the MAC of a port, nor a name like mlx5_0:1");
    }
  }

  public static PortName of(Guid guid) {
    return new PortName(String.format("0x%016x", guid.value()));
  }

  public static PortName of(MacAddress mac) {
    return new PortName(mac.toString());
  }

  /** {@code mlx5_0:1,mlx5_1:1}. */
  public static String list(List<PortName> ports) {
    return ports.stream().map(PortName::text).collect(Collectors.joining(","));
  }

  @Override
  public String toString() {
    return text;
  }
}
