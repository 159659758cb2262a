package graft.deployment.observe;

/**
 * The host itself.
 *
 * @param cpus online
 * @param memory all of it, in bytes
 * @param availableMemory what new processes can get without swapping, in bytes
 * @param sharedMemory what is free in /dev/shm, in bytes
 * @param vsock whether guests can have vsock devices
 * @param ucx whether there is a libucp, which a server needs for rdma
 * @param root whether this process is root's
 * @param nvidiaDriver the loaded NVIDIA driver's version; empty if there is none
 * @param pageGrants what lets it share pages with guests of Xen
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
    PageGrants pageGrants) {
  /**
   * What lets a process of a Xen host share pages with a guest.
   *
   * @param gntalloc whether this process may use /dev/xen/gntalloc, which gives pages to share
   * @param evtchn whether it may use /dev/xen/evtchn, through which both ends wake each other
   * @param limit how many pages all processes together may share; 0 where there is no gntalloc
   */
  public record PageGrants(boolean gntalloc, boolean evtchn, long limit) {
    /** As on a host without Xen. */
    public static final PageGrants NONE = new PageGrants(false, false, 0);

    /** Where the kernel has the limit, and takes another one. */
    public static final String LIMIT = "/sys/module/xen_gntalloc/parameters/limit";
  }
}
