package graft.common.values;

import graft.common.bind.Form;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a PCI function: domain, bus, device and function, written {@code 0000:3b:00.1}.
 *
 * <p>Domains have up to 32 bits: Intel VMD and Hyper-V use numbers above {@code ffff}, which the
 * kernel prints with more than four digits ({@code 10000:e1:00.0}).
 *
 * @param domain 0 to 0xffffffff
 * @param bus 0 to 0xff
 * @param device 0 to 0x1f
 * @param function 0 to 7
 */
@Form(
    pattern = "^([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]$",
    example = "0000:3b:00.1")
public record PciAddress(long domain, int bus, int device, int function)
    implements Comparable<PciAddress> {

  private static final Pattern TEXT =
      Pattern.compile("(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\\.([0-7])");
  private static final Comparator<PciAddress> ORDER =
      Comparator.comparingLong(PciAddress::domain)
          .thenComparingInt(PciAddress::bus)
          .thenComparingInt(PciAddress::device)
          .thenComparingInt(PciAddress::function);

  public PciAddress {
    if (domain < 0 || domain > 0xffffffffL || bus < 0 || bus > 0xff) {
      throw new IllegalArgumentException("PCI domain or bus out of range: " + domain + ", " + bus);
    }
    if (device < 0 || device > 0x1f || function < 0 || function > 7) {
      throw new IllegalArgumentException(
          "PCI device or function out of range: " + device + ", " + function);
    }
  }

  /**
   * Reads {@code [domain:]bus:device.function}, all hexadecimal; the domain is 0 if omitted.
   *
   * @throws IllegalArgumentException if the text is not an address; the message shows the expected
   *     form
   */
  public static PciAddress parse(String text) {
    return tryParse(text)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "not a PCI address: '"
                        + text
                        + "'; write it as lspci -D does, such as 0000:3b:00.1"));
  }

  /** Reads an address as {@link #parse} does; empty if the text is not one. */
  public static Optional<PciAddress> tryParse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    int device = Integer.parseInt(matcher.group(3), 16);
    if (device > 0x1f) {
      return Optional.empty();
    }
    String domain = matcher.group(1);
    return Optional.of(
        new PciAddress(
            domain == null ? 0 : Long.parseLong(domain, 16),
            Integer.parseInt(matcher.group(2), 16),
            device,
            Integer.parseInt(matcher.group(4), 16)));
  }

  /** The function whose routing identifier is higher by {@code distance}, as SR-IOV numbers VFs. */
  public PciAddress plus(int distance) {
    int id = ((bus << 8) | (device << 3) | function) + distance;
    if (id < 0 || id > 0xffff) {
      throw new IllegalArgumentException(this + " + " + distance + " leaves the PCI domain");
    }
    return new PciAddress(domain, id >> 8, (id >> 3) & 0x1f, id & 7);
  }

  /** Whether both are functions of one physical slot. */
  public boolean sameSlot(PciAddress other) {
    return domain == other.domain && bus == other.bus && device == other.device;
  }

  @Override
  public int compareTo(PciAddress other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    // Not String.format: a snapshot of a large host formats and parses thousands of addresses.
    StringBuilder text = new StringBuilder(12);
    String high = Long.toHexString(domain);
    text.append("0".repeat(Math.max(0, 4 - high.length()))).append(high).append(':');
    return text.append(hex(bus >> 4))
        .append(hex(bus & 15))
        .append(':')
        .append(hex(device >> 4))
        .append(hex(device & 15))
        .append('.')
        .append(function)
        .toString();
  }

  private static char hex(int digit) {
    return Character.forDigit(digit, 16);
  }
}
