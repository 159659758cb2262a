package graft.remoting.server.control;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device of a session: {@code software}, {@code cuda} (every GPU that the server sees) or
 * {@code cuda:INDEX} (only that GPU).
 */
public record DeviceSpec(String kind, OptionalInt index) {
  /** The kind of the software device. */
  public static final String SOFTWARE = "software";

  /** The kind of NVIDIA GPUs. */
  public static final String CUDA = "cuda";

  /** Stands, among the kinds of processes that a starter starts, for NVIDIA's MPS. */
  public static final String MPS = "mps";

  private static final Pattern FORM = Pattern.compile("([a-z][a-z0-9-]*)(?::(\\d{1,4}))?");

  /**
   * Parses a device.
   *
   * @throws IllegalArgumentException if the text names no device
   */
  public static DeviceSpec parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException(
          "device '" + text + "': write software, cuda or cuda:INDEX");
    }
    OptionalInt index =
        form.group(2) == null
            ? OptionalInt.empty()
            : OptionalInt.of(Integer.parseInt(form.group(2)));
    return new DeviceSpec(form.group(1), index);
  }

  /** Returns the device of the same kind with that index. */
  public DeviceSpec withIndex(int value) {
    return new DeviceSpec(kind, OptionalInt.of(value));
  }

  @Override
  public String toString() {
    return index.isPresent() ? kind + ":" + index.getAsInt() : kind;
  }
}
