package graft.deployment.descriptor.guest;

import graft.common.bind.Form;
import graft.hypervisors.libvirt.calls.GuestText;

/**
 * The name of a libvirt domain that somebody else made. libvirt's own rules are wider than those of
 * Graft's names.
 */
@Form(pattern = "^[^/]{1,128}$", example = "Debian 12")
public record DomainName(String text) {
  private static final int LONGEST = 128;

  /**
   * Parses a name.
   *
   * @throws IllegalArgumentException if libvirt has no such names
   */
  public static DomainName parse(String text) {
    boolean odd = text.isEmpty() || text.contains("/") || text.length() > LONGEST;
    if (odd || !GuestText.line(text, LONGEST).equals(text)) {
      throw new IllegalArgumentException(
          "'"
              + GuestText.line(text, LONGEST)
              + "' cannot be the name of a libvirt domain: virsh list --all shows the names");
    }
    return new DomainName(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
