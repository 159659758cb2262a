package graft.hypervisors.libvirt;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.nio.file.Path;

/** Changes the size of a disk of a guest that runs. */
public final class DiskResize {
  /** VIR_DOMAIN_BLOCK_RESIZE_BYTES. */
  private static final int BYTES = 1;

  private DiskResize() {}

  /**
   * Makes a disk larger. The guest sees its new size at once.
   *
   * @param file of the disk, as the guest's definition names it
   */
  public static void grow(Guest guest, Path file, MemorySize size) {
    guest.with(
        domain ->
            guest
                .attempt("make the disk " + file + " larger in")
                .check(
                    LibvirtLibrary.calls()
                        .virDomainBlockResize(domain, file.toString(), size.bytes(), BYTES)));
  }
}
