package graft.remoting.server.session.copy;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.connection.Sender;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.state.QueuedWork;
import graft.remoting.server.system.Scratch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether the channel may receive into the device's memory and send from it without a
 * pinned buffer and another copy: because the memory belongs to this process, or because UCX can
 * access it.
 *
 * <p>The channel knows nothing of streams. A copy that it makes itself is in order only if all work
 * that was queued earlier has finished. Later work waits until the copy has finished; further
 * writes may be received at the same time, and wait chunk by chunk for those to the same memory.
 */
public final class DirectAccess {
  private static final Logger LOG = LoggerFactory.getLogger(DirectAccess.class);

  private final AccountedDevice device;
  private final QueuedWork work;
  private final boolean memoryIsOurs;
  private final GpuDirect gpu;
  private boolean isTold;

  /**
   * Creates the access.
   *
   * @param memoryIsOurs whether a device pointer is a pointer of this process
   * @param gpu whether UCX can access the device's memory
   */
  public DirectAccess(
      AccountedDevice device, QueuedWork work, boolean memoryIsOurs, GpuDirect gpu) {
    this.device = device;
    this.work = work;
    this.memoryIsOurs = memoryIsOurs;
    this.gpu = gpu;
  }

  /** Returns whether the channel may access that memory now. Only the executor calls this. */
  boolean isOpen(long address, long bytes) {
    boolean open = (memoryIsOurs || gpu.isThere()) && isReached(address, bytes) && work.isOver();
    if (open && !isTold) {
      isTold = true;
      LOG.info(
          "bulk data is received directly into the device's memory when no earlier work is queued");
    }
    return open;
  }

  /**
   * Returns whether a range lies in one allocation that the channel can access. UCX keeps memory
   * registered until it sees it freed, and it sees only the frees of cuMemAlloc's memory.
   */
  private boolean isReached(long address, long bytes) {
    try (Scratch found = new Scratch(16)) {
      if (device.cuMemGetAddressRange_v2(found.address(), found.address() + 8, address)
          != CudaResult.SUCCESS) {
        return false;
      }
      long start = Memory.getLong(found.address());
      long size = Memory.getLong(found.address() + 8);
      boolean isOne = bytes >= 0 && bytes <= size && address - start <= size - bytes;
      return isOne && (memoryIsOurs || (device.isPlain(start) && gpu.reaches(start)));
    }
  }

  /**
   * Returns the destination for receiving into memory that {@link #isOpen} allowed.
   *
   * @param isSecond whether other data is being received into the same memory
   */
  Destination destination(long address, boolean isSecond) {
    if (memoryIsOurs) {
      return Destination.memory(address);
    }
    gpu.writes();
    return Destination.memory(
        address,
        (connection, at, length) -> {
          gpu.enter();
          if (isSecond) {
            gpu.order();
          }
          connection.receiveToGpu(at, length);
        });
  }

  /** Returns the sender for memory that {@link #isOpen} allowed. */
  Sender sender() {
    return memoryIsOurs
        ? Sender.FROM_MEMORY
        : (connection, address, length) -> {
          gpu.enter();
          connection.sendFromGpu(address, length);
        };
  }

  /** Makes the received data visible to all work from now on. Returns the driver's result. */
  int settle() {
    return gpu.flush();
  }
}
