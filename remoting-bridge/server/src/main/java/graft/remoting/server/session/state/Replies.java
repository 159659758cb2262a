package graft.remoting.server.session.state;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the replies to the client. A reply carries the call's own error, or else the first error of
 * an asynchronous call, as CUDA allows. Data of asynchronous reads that has arrived is sent ahead
 * of the reply. Any thread may use this.
 */
public final class Replies {
  private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

  private static final int DATA = 1;
  private static final int ON_DATA_CONNECTIONS = 4;
  private static final int DATA_HEADER = Channel.ANSWER_HEADER + 24;

  private final Channel channel;
  private final AsyncReads reads;
  private volatile DeviceOutput output;
  private final AtomicInteger pendingError = new AtomicInteger();

  Replies(Channel channel, AsyncReads reads) {
    this.channel = channel;
    this.reads = reads;
  }

  /** Sets the source of kernels' output, which is sent ahead of replies. */
  public void sendAlong(DeviceOutput printed) {
    output = printed;
  }

  /** Sends what kernels have printed if it is much, since no reply may ever be sent. */
  public void limitOutput() {
    DeviceOutput printed = output;
    if (printed != null) {
      printed.limit();
    }
  }

  /** Keeps the error of an asynchronous call until the next reply. */
  public void asyncError(int result) {
    if (result != CudaResult.SUCCESS) {
      pendingError.compareAndSet(CudaResult.SUCCESS, result);
    }
  }

  /** Returns the result that the reply to a call with that result must carry. */
  public int settle(int result) throws IOException {
    reads.sendCompleted();
    // An invalid handle usually follows from an asynchronous call that failed, whose error says
    // why.
    DeviceOutput printed = output;
    if (printed != null) {
      printed.beforeReply(result);
    }
    boolean own = result != CudaResult.SUCCESS && result != CudaResult.INVALID_HANDLE;
    if (own || pendingError.get() == CudaResult.SUCCESS) {
      return result;
    }
    return pendingError.getAndSet(CudaResult.SUCCESS);
  }

  /**
   * Replies without results to a deferred call. If the client has disconnected, nothing is sent.
   */
  public void send(int slot, int result) {
    try (Scratch answer = new Scratch(Channel.ANSWER_HEADER)) {
      Call.header(answer.address(), Channel.ANSWER_HEADER, 0, slot, settle(result));
      channel.send(answer.address(), Channel.ANSWER_HEADER);
    } catch (IOException e) {
      LOG.debug("the reply was not sent: {}", e.getMessage());
    }
  }

  /** Announces that data of a read is sent on data connections. */
  static void announce(Channel channel, long read, long offset, long length) throws IOException {
    try (Scratch head = new Scratch(DATA_HEADER)) {
      dataHeader(head.address(), ON_DATA_CONNECTIONS, 0, read, offset, length);
      channel.send(head.address(), DATA_HEADER);
    }
  }

  private static void dataHeader(
      long address, int kind, int slot, long read, long offset, long length) {
    Call.header(address, DATA_HEADER, kind, slot, CudaResult.SUCCESS);
    Memory.putLong(address + 16, read);
    Memory.putLong(address + 24, offset);
    Memory.putLong(address + 32, length);
  }

  /** Sends data of a read: the read's number, the offset of the data in the read, and the data. */
  static void sendData(Channel channel, int slot, long read, long offset, long address, long length)
      throws IOException {
    try (Scratch head = new Scratch(DATA_HEADER)) {
      dataHeader(head.address(), DATA, slot, read, offset, length);
      channel.sendBulk(head.address(), DATA_HEADER, address, length);
    }
  }
}
