package graft.provisioner.observe;

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
 */
public record HostFacts(
    int cpus,
    long memory,
    long availableMemory,
    long sharedMemory,
    boolean vsock,
    boolean ucx,
    boolean root,
    String nvidiaDriver) {}
