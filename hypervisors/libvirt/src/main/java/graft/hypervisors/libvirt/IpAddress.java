package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.GuestText;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A numeric IP address, as a guest's agent or a DHCP lease reports it. A guest may report any text.
 * {@link #parse} rejects a text that is not an address, without asking a name server.
 *
 * @param text IPv4 as four decimal numbers, or IPv6 without a zone
 */
public record IpAddress(String text) {
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  /**
   * Limits the length to that of the longest form: 6 groups and an IPv4 address. Java checks the
   * rest.
   */
  private static final Pattern IPV6 =
      Pattern.compile("(?=[^:]*:[^:]*:)[0-9a-fA-F:]{2,39}(\\." + OCTET + "){0,3}");

  private static final String BROADCAST = "255.255.255.255";

  /** Rejects a text that is not a numeric address. */
  public IpAddress {
    if (!isNumeric(text)) {
      throw new IllegalArgumentException(
          "'" + GuestText.line(text, 60) + "' is not an IP address in numbers");
    }
  }

  /**
   * Parses a numeric address.
   *
   * @throws IllegalArgumentException if the text is not a numeric address
   */
  public static IpAddress parse(String text) {
    return new IpAddress(text);
  }

  /** Parses a numeric address; empty if the text is not one. */
  public static Optional<IpAddress> find(String text) {
    return isNumeric(text) ? Optional.of(new IpAddress(text)) : Optional.empty();
  }

  private static boolean isNumeric(String text) {
    if (IPV4.matcher(text).matches()) {
      return true;
    }
    try {
      // In brackets Java accepts only an IPv6 literal, so that no name is looked up.
      return IPV6.matcher(text).matches() && InetAddress.getByName("[" + text + "]") != null;
    } catch (UnknownHostException e) {
      return false;
    }
  }

  public boolean isIpv4() {
    return text.indexOf(':') < 0;
  }

  /**
   * Whether a packet to this address can reach another machine: the address is not a loopback,
   * unspecified, multicast or broadcast address, and not an address of this machine.
   */
  public boolean isElsewhere() {
    try {
      InetAddress address = InetAddress.getByName(isIpv4() ? text : "[" + text + "]");
      return !address.isLoopbackAddress()
          && !address.isAnyLocalAddress()
          && !address.isMulticastAddress()
          && !text.equals(BROADCAST)
          && !text.startsWith("0.")
          && NetworkInterface.getByInetAddress(address) == null;
    } catch (UnknownHostException | SocketException e) {
      return false;
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
