package graft.deployment.descriptor.gpu;

import graft.common.bind.Form;
import graft.common.values.PciAddress;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * What a GPU is: {@code software} (none: programs run on the host's CPU), {@code gpu} or {@code
 * gpu:N} (the first or the N-th that the CUDA driver shows), a PCI address, or {@code MIG-UUID} (a
 * part of a GPU, as {@code nvidia-smi -L} prints it).
 *
 * @param address the PCI address; null for the other kinds
 * @param mig the MIG instance with its prefix; null for the other kinds
 */
@Form(
    pattern =
        "^(software|gpu(:[0-9]+)?|([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]|MIG-[0-9a-f-]{36})$",
    example = "software")
public record GpuDevice(Kind kind, OptionalInt index, PciAddress address, String mig) {
  private static final Pattern INSTANCE =
      Pattern.compile("MIG-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  private static final Pattern NUMBERED = Pattern.compile("gpu(:[0-9]{1,3})?");

  /** The kinds of devices. */
  public enum Kind {
    SOFTWARE,
    CUDA,
    MIG,
    PCI
  }

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is none of the forms
   */
  public static GpuDevice parse(String text) {
    if (text.equals("software")) {
      return new GpuDevice(Kind.SOFTWARE, OptionalInt.empty(), null, null);
    }
    if (INSTANCE.matcher(text).matches()) {
      return new GpuDevice(Kind.MIG, OptionalInt.empty(), null, text);
    }
    if (NUMBERED.matcher(text).matches()) {
      int index = text.equals("gpu") ? 0 : Integer.parseInt(text.substring(4));
      return new GpuDevice(Kind.CUDA, OptionalInt.of(index), null, null);
    }
    try {
      return new GpuDevice(Kind.PCI, OptionalInt.empty(), PciAddress.parse(text), null);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'" + text + "' is not software, gpu, gpu:N, a PCI address or a MIG instance");
    }
  }

  @Override
  public String toString() {
    return switch (kind) {
      case SOFTWARE -> "software";
      case CUDA -> "gpu:" + index.getAsInt();
      case PCI -> address.toString();
      case MIG -> mig;
    };
  }
}
