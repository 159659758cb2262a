package graft.guests.connection;

import graft.common.bind.Form;
import graft.hypervisors.libvirt.IpAddress;
import java.util.regex.Pattern;

/**
 * The address of a machine: a numeric IP address, or a host name (RFC 1123). The address is used on
 * command lines and in inventories, so that it contains neither blanks nor special characters of
 * shells or Ansible, and does not begin with a hyphen.
 */
@Form(pattern = "^(?!-)(?=.*[A-Za-z.:])[0-9A-Za-z.:-]+$", example = "192.168.150.10")
public record HostAddress(String text) {
  private static final String LABEL = "[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?";

  /** The last label must not be a number, so that no host name looks like a numeric address. */
  private static final Pattern NAME =
      Pattern.compile("(?=.{1,253}$)(" + LABEL + "\\.)*(?![0-9]+$)" + LABEL);

  /** Rejects a text that is neither an address nor a host name. */
  public HostAddress {
    if (!NAME.matcher(text).matches() && IpAddress.find(text).isEmpty()) {
      throw new IllegalArgumentException(
          "'" + text + "' is neither an IP address in numbers nor a host name");
    }
  }

  /**
   * Parses an address or a host name.
   *
   * @throws IllegalArgumentException if the text is neither
   */
  public static HostAddress parse(String text) {
    return new HostAddress(text);
  }

  public static HostAddress of(IpAddress address) {
    return new HostAddress(address.text());
  }

  @Override
  public String toString() {
    return text;
  }
}
