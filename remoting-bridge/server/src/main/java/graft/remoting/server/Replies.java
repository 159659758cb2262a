package graft.remoting.server;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers to the client. A reply carries the call's own error, else the first error of a call that
 * was not waited for, as CUDA allows; and before it goes what was read for the client and is
 * complete. Any thread.
 */
final class Replies {
  private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

  private final Channel channel;
  private final AsyncReads reads;
  private final AtomicInteger pendingError = new AtomicInteger();

  Replies(Channel channel, AsyncReads reads) {
    this.channel = channel;
    this.reads = reads;
  }

  /** Keeps the error of a call that nobody waits for, until the next reply. */
  void asyncError(int result) {
    if (result != CudaResult.SUCCESS) {
      pendingError.compareAndSet(CudaResult.SUCCESS, result);
    }
  }

  /** What the reply to a call with that result must say. */
  int settle(int result) throws IOException {
    reads.sendCompleted();
    // A handle that is not there is most often the trace of a call that failed before: that one
    // says why.
    boolean own = result != CudaResult.SUCCESS && result != CudaResult.INVALID_HANDLE;
    if (own || pendingError.get() == CudaResult.SUCCESS) {
      return result;
    }
    return pendingError.getAndSet(CudaResult.SUCCESS);
  }

  /** Replies without results to a call that was deferred. A client that has gone needs none. */
  void send(int slot, int result) {
    try (Scratch answer = new Scratch(Channel.ANSWER_HEADER)) {
      Call.header(answer.address(), Channel.ANSWER_HEADER, 0, slot, settle(result));
      channel.send(answer.address(), Channel.ANSWER_HEADER);
    } catch (IOException e) {
      LOG.debug("no reply: {}", e.getMessage());
    }
  }

  /** Sends bulk data for a read: its identity, where in it the data belongs, and the data. */
  static void sendData(Channel channel, int slot, long read, long offset, long address, long length)
      throws IOException {
    int size = Channel.ANSWER_HEADER + 24;
    try (Scratch head = new Scratch(size)) {
      Call.header(head.address(), size, 1, slot, CudaResult.SUCCESS);
      Memory.putLong(head.address() + 16, read);
      Memory.putLong(head.address() + 24, offset);
      Memory.putLong(head.address() + 32, length);
      channel.sendBulk(head.address(), size, address, length);
    }
  }
}
