package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.LibvirtLibrary;

/**
 * The memory of a guest that {@code virsh managedsave} has written to a file: the guest is off, and
 * its next start goes on from there, with the disks that it expects to be as they were.
 */
public final class SavedMemory {
  private SavedMemory() {}

  /** Whether the guest has such a file. */
  public static boolean isThere(Guest guest) {
    return guest.with(
        domain ->
            guest
                    .attempt("look for the saved memory of")
                    .check(LibvirtLibrary.calls().virDomainHasManagedSaveImage(domain, 0))
                == 1);
  }
}
