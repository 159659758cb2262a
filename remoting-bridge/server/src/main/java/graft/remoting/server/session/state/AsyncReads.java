package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.DataConnections;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies to the client that it does not wait for. They are queued on the device at once, into
 * memory of their own ({@link ReadMemory}). A thread sends the data when the copy is done ({@link
 * ReadQueue}); a reply that tells the client that the copy is done sends the data first.
 */
public final class AsyncReads {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncReads.class);

  /** Between two chunks other threads get their turn to send. */
  private static final long CHUNK = 1 << 20;

  /** How much is copied at once. */
  private static final long PART = 4 << 20;

  /** As above, where data connections carry it: the first part is sent sooner. */
  private static final long CONNECTION_PART = 1 << 20;

  private final CudaDevice device;
  private final Channel channel;
  private final Waiters waiters;
  private final ReadMemory memory;
  private final LongConsumer polling;
  private final ReadQueue queue = new ReadQueue();

  /**
   * The reads of a session.
   *
   * @param polling waits for an event with little delay
   */
  AsyncReads(
      CudaDevice device, Channel channel, Waiters waiters, PinnedPool pool, LongConsumer polling) {
    this.device = device;
    this.channel = channel;
    this.waiters = waiters;
    this.memory = new ReadMemory(pool);
    this.polling = polling;
  }

  /**
   * Queues a copy, in parts, so that the first are sent while the last are copied.
   *
   * @param identity what the client knows the read by
   */
  public int start(SessionContext context, long source, long bytes, long stream, long identity) {
    int result = CudaResult.SUCCESS;
    boolean onDataConnections =
        bytes >= DataConnections.LEAST && channel.dataConnections().areOpen();
    long most = onDataConnections ? CONNECTION_PART : PART;
    for (long offset = 0; offset < bytes && result == CudaResult.SUCCESS; offset += most) {
      long part = Math.min(most, bytes - offset);
      long address = memory.allocate(part);
      result = device.cuMemcpyDtoHAsync_v2(address, source + offset, part, stream);
      if (result == CudaResult.SUCCESS) {
        // From here on the copy may still write there: on an error the memory is not released.
        long event = context.events().record(stream);
        memory.count(part);
        queue(
            new PendingRead(
                context,
                onDataConnections,
                identity,
                offset,
                address,
                part,
                bytes,
                event,
                new AtomicBoolean(),
                new CountDownLatch(1)));
      } else {
        memory.cancel(address, part);
      }
    }
    return result;
  }

  private void queue(PendingRead read) {
    if (queue.add(read)) {
      waiters.submit(read.context(), this::sendAll);
    }
  }

  /** Sends what is complete now, and waits for what another thread is sending. */
  void sendCompleted() throws IOException {
    if (queue.isEmpty()) {
      return;
    }
    ArrayDeque<PendingRead> completed = new ArrayDeque<>();
    List<PendingRead> reads = queue.all();
    // The newest first: whatever a completed one came after is seen to be complete too.
    for (int i = reads.size() - 1; i >= 0; i--) {
      PendingRead read = reads.get(i);
      if (read.claimed().get() || device.cuEventQuery(read.event()) != CudaResult.NOT_READY) {
        completed.push(read);
      }
    }
    for (PendingRead read : completed) {
      finish(read);
    }
  }

  /**
   * Sends what is complete now, then runs {@code action}; on another thread where the device has to
   * be asked, which a host function may not do.
   */
  void whenCompletedAreSent(Runnable action) {
    PendingRead oldest = queue.oldest();
    if (oldest == null) {
      action.run();
      return;
    }
    waiters.submit(
        oldest.context(),
        () -> {
          try {
            sendCompleted();
            action.run();
          } catch (IOException e) {
            LOG.debug("the client has gone: {}", e.getMessage());
          }
        });
  }

  private void sendAll() {
    try {
      while (true) {
        PendingRead read = queue.awaitOldest();
        if (read == null) {
          return;
        }
        read.context().enter(device);
        // No call waits for it here, so that to sleep is right; but data connections should not
        // run dry.
        if (read.onDataConnections()) {
          polling.accept(read.event());
        } else {
          device.cuEventSynchronize(read.event());
        }
        finish(read);
        if (read.onDataConnections()) {
          channel.dataConnections().poll(() -> !queue.isEmpty());
        }
      }
    } catch (IOException e) {
      LOG.debug("the client has gone: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sends a read whose copy is done, unless another thread does, and then waits for that. */
  private void finish(PendingRead read) throws IOException {
    if (!read.claimed().compareAndSet(false, true)) {
      await(read);
      return;
    }
    try {
      if (read.onDataConnections()) {
        sendOnDataConnections(read);
      } else {
        sendOnStream(read);
      }
    } finally {
      queue.remove(read);
      if (!read.onDataConnections()) {
        memory.release(read.address(), read.bytes());
      }
      read.context().events().give(read.event());
      queue.finished(read);
    }
  }

  /**
   * After a failed copy the data is worthless, but the client must not wait for it for ever: its
   * error is the context's and comes with the next reply.
   */
  private void sendOnStream(PendingRead read) throws IOException {
    for (long offset = 0; offset < read.bytes(); offset += CHUNK) {
      Replies.sendData(
          channel,
          0,
          read.identity(),
          read.offset() + offset,
          read.address() + offset,
          Math.min(CHUNK, read.bytes() - offset));
    }
  }

  /** Whoever waits for the data goes on once it is announced; the connections free the memory. */
  private void sendOnDataConnections(PendingRead read) throws IOException {
    channel
        .dataConnections()
        .send(
            read.identity(),
            read.offset(),
            read.address(),
            read.bytes(),
            read.whole(),
            () -> {
              read.context().enter(device);
              memory.release(read.address(), read.bytes());
            });
    Replies.announce(channel, read.identity(), read.offset(), read.bytes());
  }

  private static void await(PendingRead read) {
    try {
      read.sent().await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
