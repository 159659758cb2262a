package graft.hypervisors.libvirt.domain;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a PCI function as the kernel writes it, {@code 0000:04:10.0}, all parts in
 * hexadecimal. Domains above ffff exist (VMD) and are kept.
 */
public record PciAddress(int domain, int bus, int slot, int function)
    implements Comparable<PciAddress> {

  private static final Pattern FORM =
      Pattern.compile("([0-9a-f]{4,8}):([0-9a-f]{2}):([01][0-9a-f])\\.([0-7])");

  public PciAddress {
    if (domain < 0 || bus < 0 || bus > 0xff || slot < 0 || slot > 0x1f) {
      throw new IllegalArgumentException(
          "no such PCI address: " + text(domain, bus, slot, function));
    }
    if (function < 0 || function > 7) {
      throw new IllegalArgumentException("a PCI function is 0 to 7, not " + function);
    }
  }

  /**
   * Reads the kernel's form.
   *
   * @throws IllegalArgumentException for any other form
   */
  public static PciAddress parse(String text) {
    Matcher m = FORM.matcher(text.toLowerCase(java.util.Locale.ROOT));
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "not a PCI address: '" + text + "'; write it as lspci -D does, for example 0000:04:10.0");
    }
    return new PciAddress(
        Integer.parseUnsignedInt(m.group(1), 16),
        Integer.parseInt(m.group(2), 16),
        Integer.parseInt(m.group(3), 16),
        Integer.parseInt(m.group(4), 16));
  }

  /** libvirt's name for this function's node device, {@code pci_0000_04_10_0}. */
  public String nodeDeviceName() {
    return "pci_" + toString().replace(':', '_').replace('.', '_');
  }

  @Override
  public int compareTo(PciAddress other) {
    int byDomain = Integer.compare(domain, other.domain);
    if (byDomain != 0) {
      return byDomain;
    }
    return Integer.compare(
        (bus << 8) | (slot << 3) | function, (other.bus << 8) | (other.slot << 3) | other.function);
  }

  @Override
  public String toString() {
    return text(domain, bus, slot, function);
  }

  private static String text(int domain, int bus, int slot, int function) {
    return String.format("%04x:%02x:%02x.%x", domain, bus, slot, function);
  }
}
