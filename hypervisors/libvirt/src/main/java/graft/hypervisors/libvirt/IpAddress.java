package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.GuestText;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An IP address in numbers, as a guest's agent or a DHCP lease tells it. What a guest says may be
 * anything; a text that is not an address gets no further than {@link #parse}, which asks no name
 * server.
 *
 * @param text IPv4 in four decimal numbers, or IPv6 without a zone
 */
public record IpAddress(String text) {
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  /** Limits the length to the longest form, 6 groups and an IPv4 address. Java checks the rest. */
  private static final Pattern IPV6 =
      Pattern.compile("(?=[^:]*:[^:]*:)[0-9a-fA-F:]{2,39}(\\." + OCTET + "){0,3}");

  private static final String BROADCAST = "255.255.255.255";

  /** Refuses what is not an address in numbers. */
  public IpAddress {
    if (!isNumeric(text)) {
      throw new IllegalArgumentException(
          "'" + GuestText.line(text, 60) + "' is not an IP address in numbers");
    }
  }

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it is not an address in numbers
   */
  public static IpAddress parse(String text) {
    return new IpAddress(text);
  }

  /** The address, if the text is one. */
  public static Optional<IpAddress> find(String text) {
    return isNumeric(text) ? Optional.of(new IpAddress(text)) : Optional.empty();
  }

  private static boolean isNumeric(String text) {
    if (IPV4.matcher(text).matches()) {
      return true;
    }
    try {
      // In brackets Java takes nothing but an IPv6 literal, so no name is looked up.
      return IPV6.matcher(text).matches() && InetAddress.getByName("[" + text + "]") != null;
    } catch (UnknownHostException e) {
      return false;
    }
  }

  public boolean isIpv4() {
    return text.indexOf(':') < 0;
  }

  /**
   * Whether a packet to it can go to another machine: it is no loopback, unspecified, multicast or
   * broadcast address, and none of this machine's own.
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
