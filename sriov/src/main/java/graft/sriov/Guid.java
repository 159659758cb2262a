package graft.sriov;

import graft.common.bind.Form;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * An InfiniBand GUID: an EUI-64 that names one node or port (InfiniBand Architecture Specification,
 * volume 1, 4.1).
 *
 * <p>Zero, all ones and group (multicast) identifiers are not GUIDs: drivers report 0 for a GUID
 * that was never set, and mlx4 deletes the entry when all ones are written.
 *
 * @param value the 64 bits, the most significant octet is written first
 */
@Form(
    pattern =
        "^((0x)?[0-9a-fA-F]{16}|([0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2}"
            + "|([0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4})$",
    example = "0c:42:a1:03:00:16:9f:8e")
public record Guid(long value) implements Comparable<Guid> {

  /** The bit of the first octet that marks a group address (IEEE EUI-64 guidelines). */
  private static final long GROUP = 0x01L << 56;

  private static final Pattern TEXT =
      Pattern.compile(
          "(?:0x)?[0-9a-fA-F]{16}|(?:[0-9a-fA-F]{2}:){7}[0-9a-fA-F]{2}"
              + "|(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}");

  public Guid {
    if (value == 0) {
      throw new IllegalArgumentException("the GUID is zero, which means unset");
    }
    if (value == -1L) {
      throw new IllegalArgumentException("the GUID is all ones, which means deleted");
    }
    if ((value & GROUP) != 0) {
      throw new IllegalArgumentException(
          "the GUID "
              + colons(value)
              + " is a multicast identifier (lowest bit of the first octet)");
    }
  }

  /**
   * Parses {@code 0c:42:a1:03:00:16:9f:8e}, {@code 0c42:a103:0016:9f8e} (sysfs) or {@code
   * 0x0c42a10300169f8e}.
   *
   * @throws IllegalArgumentException if the text has another form, or if the GUID is zero, all ones
   *     or multicast
   */
  public static Guid parse(String text) {
    return new Guid(parseBits(text));
  }

  /**
   * Parses the 64 bits of a GUID as a driver prints them; 0 may stand for an unknown GUID.
   *
   * @throws IllegalArgumentException if the text has none of the forms of {@link #parse}
   */
  public static long parseBits(String text) {
    String stripped = text.strip();
    if (!TEXT.matcher(stripped).matches()) {
      throw new IllegalArgumentException(
          "not a GUID: '" + text + "' (expected eight octets, such as 0c:42:a1:03:00:16:9f:8e)");
    }
    String digits = stripped.startsWith("0x") ? stripped.substring(2) : stripped.replace(":", "");
    return Long.parseUnsignedLong(digits, 16);
  }

  /** The form that sysfs prints: {@code 0c42:a103:0016:9f8e}. */
  public String toSysfs() {
    String hex = HexFormat.of().toHexDigits(value);
    return String.join(
        ":", hex.substring(0, 4), hex.substring(4, 8), hex.substring(8, 12), hex.substring(12));
  }

  @Override
  public int compareTo(Guid other) {
    return Long.compareUnsigned(value, other.value);
  }

  /** The form that {@code ip link} parses: {@code 0c:42:a1:03:00:16:9f:8e}. */
  @Override
  public String toString() {
    return colons(value);
  }

  private static String colons(long value) {
    byte[] octets = new byte[8];
    for (int i = 0; i < 8; i++) {
      octets[i] = (byte) (value >>> (56 - 8 * i));
    }
    return HexFormat.ofDelimiter(":").formatHex(octets);
  }
}
