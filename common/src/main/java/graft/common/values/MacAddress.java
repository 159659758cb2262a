package graft.common.values;

import graft.common.bind.Form;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The Ethernet address of one station: 48 bits, neither zero nor a group address.
 *
 * @param value the address in the low 48 bits, first octet highest
 */
@Form(pattern = "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$", example = "52:54:00:12:34:56")
public record MacAddress(long value) {
  private static final Pattern TEXT = Pattern.compile("(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}");

  public MacAddress {
    if (value >>> 48 != 0 || value == 0) {
      throw new IllegalArgumentException("not a MAC address: " + Long.toHexString(value));
    }
    if (((value >> 40) & 1) != 0) {
      throw new IllegalArgumentException("a multicast MAC address: " + Long.toHexString(value));
    }
  }

  /**
   * Parses {@code 02:00:00:00:00:01}.
   *
   * @throws IllegalArgumentException if the text has another form, or if the address is zero or a
   *     multicast address
   */
  public static MacAddress parse(String text) {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "not a MAC address: '" + text + "'; write it as 52:54:00:12:34:56");
    }
    return new MacAddress(Long.parseLong(text.replace(":", ""), 16));
  }

  /** The six octets in the order of the written address. */
  public byte[] octets() {
    byte[] octets = new byte[6];
    for (int i = 0; i < 6; i++) {
      octets[i] = (byte) (value >>> (40 - 8 * i));
    }
    return octets;
  }

  @Override
  public String toString() {
    return HexFormat.ofDelimiter(":").formatHex(octets());
  }
}
