package graft.deployment.observe;

import java.util.Optional;

/**
 * The host itself.
 *
 * @param cpus online
 * @param memory its total memory, in bytes
 * @param availableMemory the memory that new processes can get without swapping, in bytes
 * @param sharedMemory the free space in /dev/shm, in bytes
 * @param vsock whether guests can have vsock devices
 * @param ucx whether libucp is installed, which a server needs for rdma
 * @param root whether this process runs as root
 * @param nvidiaDriver the loaded NVIDIA driver's version; empty if there is none
 * @param pageGrants the means to share pages with guests of Xen
 * @param noClosedNetwork why guests of QEMU cannot have a closed network; empty if they can
 */
public record HostFacts(
    int cpus,
    long memory,
    long availableMemory,
    long sharedMemory,
    boolean vsock,
    boolean ucx,
    boolean root,
    String nvidiaDriver,
    PageGrants pageGrants,
    String noClosedNetwork) {
  /**
   * The means by which a process of a Xen host shares pages with a guest.
   *
   * @param gntalloc whether this process may use /dev/xen/gntalloc, which allocates pages to share
   * @param evtchn whether it may use /dev/xen/evtchn, by which both ends wake each other
   * @param limit how many pages all processes together may share; 0 where there is no gntalloc
   */
  public record PageGrants(boolean gntalloc, boolean evtchn, long limit) {
    /** A host without Xen. */
    public static final PageGrants NONE = new PageGrants(false, false, 0);

    /** The file of the limit; writing it changes the limit. */
    public static final String LIMIT = "/sys/module/xen_gntalloc/parameters/limit";

    /** Why the server cannot share pages with a guest of Xen; empty if it can. */
    public Optional<String> obstacle() {
      if (!gntalloc) {
        return Optional.of(
            "/dev/xen/gntalloc is not there or may not be used (modprobe xen-gntalloc)");
      }
      return evtchn
          ? Optional.empty()
          : Optional.of("/dev/xen/evtchn is not there or may not be used (modprobe xen-evtchn)");
    }
  }
}
