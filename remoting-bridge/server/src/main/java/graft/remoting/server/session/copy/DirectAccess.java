package graft.remoting.server.session.copy;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.connection.Sender;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.system.Scratch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the channel may receive into the device's memory itself, and send from it, without a
 * pinned buffer and a copy between: because that memory is this process's own, or because UCX
 * reaches it.
 *
 * <p>The channel knows no streams: a copy that it makes itself is in its place only if all work is
 * over that was queued before. What comes later waits until the copy is over; further writes come
 * at the same time, and wait part by part for those that go to the same memory.
 */
public final class DirectAccess {
  private static final Logger LOG = LoggerFactory.getLogger(DirectAccess.class);

  private final AccountedDevice device;
  private final UsedStreams streams;
  private final boolean memoryIsOurs;
  private final GpuDirect gpu;
  private boolean isTold;

  /**
   * Access.
   *
   * @param memoryIsOurs whether a pointer of the device is one of this process
   * @param gpu whether UCX reaches the device's memory
   */
  public DirectAccess(
      AccountedDevice device, UsedStreams streams, boolean memoryIsOurs, GpuDirect gpu) {
    this.device = device;
    this.streams = streams;
    this.memoryIsOurs = memoryIsOurs;
    this.gpu = gpu;
  }

  /** Whether that memory may be used now. For the executor. */
  boolean isOpen(long address, long bytes) {
    boolean open = (memoryIsOurs || gpu.isThere()) && isReached(address, bytes) && isAllWorkOver();
    if (open && !isTold) {
      isTold = true;
      LOG.info("bulk data goes straight to the device's memory where no work is queued before it");
    }
    return open;
  }

  /**
   * Of one allocation. What UCX has registered it has to see freed, which it does of plain ones.
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

  /** Whichever stream it is on: a stream of its own may have to wait for the legacy one. */
  private boolean isAllWorkOver() {
    boolean over = !streams.mayHaveMore() && isOver(0);
    for (int i = 0; over && i < streams.size(); i++) {
      over = isOver(streams.get(i));
    }
    return over;
  }

  private boolean isOver(long stream) {
    try (Scratch status = new Scratch(4)) {
      // First: to ask a stream that captures whether it is done ends its capture.
      return device.cuStreamIsCapturing(stream, status.address()) == CudaResult.SUCCESS
          && Memory.getInt(status.address()) == 0
          && device.cuStreamQuery(stream) == CudaResult.SUCCESS;
    }
  }

  /**
   * Receives there, which {@link #isOpen} allowed.
   *
   * @param isSecond whether others are on their way there
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

  /** Sends from there, which {@link #isOpen} allowed. */
  Sender sender() {
    return memoryIsOurs
        ? Sender.FROM_MEMORY
        : (connection, address, length) -> {
          gpu.enter();
          connection.sendFromGpu(address, length);
        };
  }

  /** What was received is there for all that comes now; the driver's answer. */
  int settle() {
    return gpu.flush();
  }
}
