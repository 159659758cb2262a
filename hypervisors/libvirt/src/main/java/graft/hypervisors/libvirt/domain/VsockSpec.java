package graft.hypervisors.libvirt.domain;

import java.util.OptionalLong;

/**
 * A socket family between host and guest that needs no network.
 *
 * @param cid the guest's context id, 3 or more, unique on the host; libvirt chooses one if absent
 */
public record VsockSpec(OptionalLong cid) {
  public VsockSpec {
    if (cid.isPresent() && (cid.getAsLong() < 3 || cid.getAsLong() >= 0xffffffffL)) {
      throw new IllegalArgumentException(
          "vsock context id " + cid.getAsLong() + " is reserved: guests have 3 to 4294967294");
    }
  }

  /** A socket whose context id libvirt chooses at each start of the guest. */
  public static VsockSpec automatic() {
    return new VsockSpec(OptionalLong.empty());
  }

  public static VsockSpec of(long cid) {
    return new VsockSpec(OptionalLong.of(cid));
  }
}
