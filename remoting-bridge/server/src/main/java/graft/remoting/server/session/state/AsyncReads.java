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
 * Device-to-host copies that the client does not wait for. Each is queued on the device at once,
 * into memory of its own ({@link ReadMemory}). When the copy has finished, a thread sends the data
 * ({@link ReadQueue}); a reply that tells the client that the copy has finished sends the data
 * first.
 */
public final class AsyncReads {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncReads.class);

  /** Data is sent in chunks, so that other threads can send between them. */
  private static final long CHUNK = 1 << 20;

  /** The size of the parts in which a read is copied. */
  private static final long PART = 4 << 20;

  /**
   * The size of the parts if data connections carry the data. Smaller parts let the first one be
   * sent sooner.
   */
  private static final long CONNECTION_PART = 1 << 20;

  private final CudaDevice device;
  private final Channel channel;
  private final Waiters waiters;
  private final ReadMemory memory = new ReadMemory();
  private final LongConsumer polling;
  private final ReadQueue queue = new ReadQueue();

  /**
   * Creates the reads of a session.
   *
   * @param polling waits for an event with little delay
   */
  AsyncReads(CudaDevice device, Channel channel, Waiters waiters, LongConsumer polling) {
    this.device = device;
    this.channel = channel;
    this.waiters = waiters;
    this.polling = polling;
  }

  /**
   * Queues a copy in parts, so that the first parts are sent while the last ones are copied.
   *
   * @param identity the client's number for the read
   */
  public int start(SessionContext context, long source, long bytes, long stream, long identity) {
    int result = CudaResult.SUCCESS;
    boolean onDataConnections =
        bytes >= DataConnections.LEAST && channel.dataConnections().areOpen();
    long most = onDataConnections ? CONNECTION_PART : PART;
    for (long offset = 0; offset < bytes && result == CudaResult.SUCCESS; offset += most) {
      long part = Math.min(most, bytes - offset);
      long address = memory.allocate(context.pinned(), part);
      result = device.cuMemcpyDtoHAsync_v2(address, source + offset, part, stream);
      if (result == CudaResult.SUCCESS) {
        // From here on the copy may still write to the memory, so that the memory is not released
        // after an error.
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
                System.nanoTime(),
                new AtomicBoolean(),
                new CountDownLatch(1)));
      } else {
        memory.cancel(context.pinned(), address, part);
      }
    }
    return result;
  }

  private void queue(PendingRead read) {
    if (queue.add(read)) {
      waiters.send(read.context(), this::sendAll);
    }
  }

  /**
   * Sends the data of the copies that have finished, and waits for data that another thread is
   * sending.
   */
  void sendCompleted() throws IOException {
    if (queue.isEmpty()) {
      return;
    }
    ArrayDeque<PendingRead> completed = new ArrayDeque<>();
    List<PendingRead> reads = queue.all();
    // The newest read is queried first. In the other order an older read could finish between the
    // queries, and a newer one would be sent without it.
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
   * Sends the data of the copies that have finished and then runs {@code action}. If the device has
   * to be queried, both happen on another thread, because a host function must not call the driver.
   */
  void whenCompletedAreSent(Runnable action) {
    PendingRead oldest = queue.oldest();
    if (oldest == null) {
      action.run();
      return;
    }
    waiters.soon(
        oldest.context(),
        () -> {
          try {
            sendCompleted();
            action.run();
          } catch (IOException e) {
            LOG.debug("the client has disconnected: {}", e.getMessage());
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
        // No call waits for this data, so that the thread may sleep. It polls only for data
        // connections, which would otherwise run idle.
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
      LOG.debug("the client has disconnected: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Sends the data of a finished copy, or waits until the thread that is already sending it has
   * done so.
   */
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
        memory.release(read.context().pinned(), read.address(), read.bytes());
      }
      read.context().events().give(read.event());
      queue.finished(read);
    }
  }

  /**
   * Sends a part on the session's stream. After a failed copy the data is meaningless, but it is
   * sent all the same, because the client waits for it; the error belongs to the context and is
   * returned with the next reply.
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

  /**
   * Sends a part on data connections. A client that waits for the data continues when the part is
   * announced; the connections release the memory once they have sent it.
   */
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
              memory.release(read.context().pinned(), read.address(), read.bytes());
            });
    Replies.announce(channel, read.identity(), read.offset(), read.bytes());
  }

  private void await(PendingRead read) {
    channel.dataConnections().poll(() -> read.sent().getCount() == 0);
    try {
      read.sent().await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
