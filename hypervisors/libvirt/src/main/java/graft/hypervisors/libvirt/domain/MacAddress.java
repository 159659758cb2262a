package graft.hypervisors.libvirt.domain;

import java.util.Locale;
import java.util.regex.Pattern;

/** A unicast Ethernet address in lower case with colons, {@code 52:54:00:11:22:33}. */
public record MacAddress(String text) {

  private static final Pattern FORM = Pattern.compile("([0-9a-f]{2}:){5}[0-9a-f]{2}");

  public MacAddress {
    text = text.toLowerCase(Locale.ROOT);
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "not an Ethernet address: '" + text + "'; write it as 52:54:00:11:22:33");
    }
    if ((Integer.parseInt(text.substring(0, 2), 16) & 1) != 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is a multicast address: the first byte must be even");
    }
  }

  @Override
  public String toString() {
    return text;
  }
}
