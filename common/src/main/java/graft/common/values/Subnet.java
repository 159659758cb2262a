package graft.common.values;

import graft.common.bind.Form;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An IPv4 address of the host with the prefix length of its network: {@code 192.168.150.1/24}. */
@Form(pattern = "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$", example = "192.168.150.1/24")
public record Subnet(int address, int length) {
  private static final Pattern TEXT =
      Pattern.compile("([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})/([0-9]{1,2})");

  /** Rejects networks that are too small for a host and a guest. */
  public Subnet {
    if (length < 8 || length > 29) {
      throw new IllegalArgumentException("a network length is from 8 to 29, not " + length);
    }
    int host = address & ~mask(length);
    if (host == 0 || host == ~mask(length)) {
      throw new IllegalArgumentException(
          dotted(address) + "/" + length + " is no host's address: give the host's, as in .1");
    }
  }

  /**
   * Parses an address with a prefix length.
   *
   * @throws IllegalArgumentException if the text has another form
   */
  public static Subnet parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + text + "' is not an IPv4 address with a length");
    }
    int address = 0;
    for (int i = 1; i <= 4; i++) {
      int part = Integer.parseInt(matcher.group(i));
      if (part > 255) {
        throw new IllegalArgumentException("'" + text + "' is not an IPv4 address");
      }
      address = address << 8 | part;
    }
    return new Subnet(address, Integer.parseInt(matcher.group(5)));
  }

  private static int mask(int length) {
    return -1 << (32 - length);
  }

  private static String dotted(int address) {
    return (address >>> 24)
        + "."
        + (address >> 16 & 255)
        + "."
        + (address >> 8 & 255)
        + "."
        + (address & 255);
  }

  /** The host's address: {@code 192.168.150.1}. */
  public String host() {
    return dotted(address);
  }

  /** The network mask: {@code 255.255.255.0}. */
  public String netmask() {
    return dotted(mask(length));
  }

  /** The lowest address that a guest can get: the lowest one that is not the host's. */
  public String firstGuest() {
    int first = (address & mask(length)) + 1;
    return dotted(first == address ? first + 1 : first);
  }

  /** The highest address that a guest can get. */
  public String lastGuest() {
    int last = (address | ~mask(length)) - 1;
    return dotted(last == address ? last - 1 : last);
  }

  @Override
  public String toString() {
    return host() + "/" + length;
  }
}
