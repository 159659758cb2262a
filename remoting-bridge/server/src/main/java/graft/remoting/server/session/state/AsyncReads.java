package graft.remoting.server.session.state;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.Lanes;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies to the client that it does not wait for. They are queued at once, into memory of their
 * own. Once much of it is in use the executor waits, but only as long as some of it is sent: a
 * client that is itself busy sending takes nothing. A thread sends the data when the copy is done;
 * a reply that would tell the client so sends it first.
 */
public final class AsyncReads {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncReads.class);

  /** Between two pieces others get their turn to send. */
  private static final long PIECE = 1 << 20;

  /** Copied as a whole; smaller where lanes carry it, so that the first are sent sooner. */
  private static final long PART = 4 << 20;

  private static final long LANE_PART = 1 << 20;

  /** What is more may cost new memory each time. */
  private static final long ENOUGH = 64 << 20;

  private static final long STALL_MILLIS = 20;
  private static final long PATIENCE_MILLIS = 1;
  private static final long LINGER_MILLIS = 20;

  private final CudaDevice device;
  private final Channel channel;
  private final Waiters waiters;
  private final PinnedPool memory;
  private final LongConsumer polling;
  private final ArrayDeque<Read> queue = new ArrayDeque<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final Object room = new Object();
  private long held; // bytes of memory that reads have
  private boolean isStalled; // nothing was given back since the executor waited for it
  private boolean sending;
  private boolean asleep;

  /**
   * Reads.
   *
   * @param polling waits for an event with little delay
   */
  AsyncReads(
      CudaDevice device,
      Channel channel,
      Waiters waiters,
      PinnedPool memory,
      LongConsumer polling) {
    this.device = device;
    this.channel = channel;
    this.waiters = waiters;
    this.memory = memory;
    this.polling = polling;
  }

  private record Read(
      SessionContext context,
      boolean onLanes,
      long identity,
      long offset,
      long address,
      long bytes,
      long whole,
      long event,
      AtomicBoolean claimed,
      CountDownLatch sent) {}

  /**
   * Queues a copy, in parts, so that the first are sent while the last are copied.
   *
   * @param identity what the client knows the read by
   */
  public int start(SessionContext context, long source, long bytes, long stream, long identity) {
    int result = CudaResult.SUCCESS;
    boolean onLanes = bytes >= Lanes.LEAST && channel.lanes().areOpen();
    long most = onLanes ? LANE_PART : PART;
    for (long offset = 0; offset < bytes && result == CudaResult.SUCCESS; offset += most) {
      long part = Math.min(most, bytes - offset);
      result = startPart(context, source + offset, offset, part, bytes, stream, identity, onLanes);
    }
    return result;
  }

  private int startPart(
      SessionContext context,
      long source,
      long offset,
      long bytes,
      long whole,
      long stream,
      long identity,
      boolean onLanes) {
    awaitRoom(bytes);
    long address = memory.take(bytes);
    int result = device.cuMemcpyDtoHAsync_v2(address, source, bytes, stream);
    if (result != CudaResult.SUCCESS) {
      memory.give(address, bytes);
      return result;
    }
    // From here on the copy may still write there: on an error the memory is not given back.
    long event = context.events().record(stream);
    Read read =
        new Read(
            context,
            onLanes,
            identity,
            offset,
            address,
            bytes,
            whole,
            event,
            new AtomicBoolean(),
            new CountDownLatch(1));
    pending.incrementAndGet();
    synchronized (room) {
      held += bytes;
    }
    synchronized (queue) {
      queue.add(read);
      if (!sending) {
        sending = true;
        waiters.submit(context, this::sendAll);
      } else if (asleep) {
        queue.notifyAll();
      }
    }
    return CudaResult.SUCCESS;
  }

  private void awaitRoom(long bytes) {
    synchronized (room) {
      while (held + bytes > ENOUGH && !isStalled) {
        isStalled = true; // until something is given back
        try {
          room.wait(STALL_MILLIS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new IllegalStateException("nothing interrupts the threads of a session", e);
        }
      }
    }
  }

  private void give(long address, long bytes) {
    memory.give(address, bytes);
    synchronized (room) {
      held -= bytes;
      isStalled = false;
      room.notifyAll();
    }
  }

  /** Sends what is complete now, and waits for what another thread is sending. */
  void sendCompleted() throws IOException {
    if (pending.get() == 0) {
      return;
    }
    ArrayDeque<Read> completed = new ArrayDeque<>();
    List<Read> reads;
    synchronized (queue) {
      reads = List.copyOf(queue);
    }
    // The newest first: whatever a completed one came after is seen to be complete too.
    for (int i = reads.size() - 1; i >= 0; i--) {
      Read read = reads.get(i);
      if (read.claimed().get() || device.cuEventQuery(read.event()) != CudaResult.NOT_READY) {
        completed.push(read);
      }
    }
    for (Read read : completed) {
      finish(read);
    }
  }

  /**
   * Sends what is complete now, then does something; on another thread where it has to ask the
   * device, which a host function may not.
   */
  void whenCompletedAreSent(Runnable action) {
    Read oldest;
    synchronized (queue) {
      oldest = queue.peek();
    }
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
        Read read = next();
        if (read == null) {
          return;
        }
        read.context().enter(device);
        // Nobody waits for it here, so that to sleep is right; but lanes should not run dry.
        if (read.onLanes()) {
          polling.accept(read.event());
        } else {
          device.cuEventSynchronize(read.event());
        }
        finish(read);
        if (read.onLanes()) {
          channel.lanes().lookFor(() -> pending.get() > 0);
        }
      }
    } catch (IOException e) {
      LOG.debug("the client has gone: {}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The oldest read that nobody has sent after a moment: most often the client waits for its stream
   * right away, and the reply to that takes the data along without another thread. Null when there
   * has been none for long.
   */
  private Read next() throws InterruptedException {
    synchronized (queue) {
      Read seen = null;
      while (true) {
        Read oldest = queue.peek();
        if (oldest == null) {
          asleep = true;
          queue.wait(LINGER_MILLIS);
          asleep = false;
          if (queue.isEmpty()) {
            sending = false;
            return null;
          }
        } else if (oldest.equals(seen) || oldest.onLanes()) {
          return oldest;
        } else {
          seen = oldest;
          queue.wait(PATIENCE_MILLIS);
        }
      }
    }
  }

  /** Sends a read whose copy is done, unless another thread does, and then waits for that. */
  private void finish(Read read) throws IOException {
    if (!read.claimed().compareAndSet(false, true)) {
      await(read);
      return;
    }
    if (read.onLanes()) {
      sendOnLanes(read);
      return;
    }
    try {
      // After a failed copy the data is worthless, but the client must not wait for it for ever:
      // its error is the
      // context's and comes with the next reply.
      for (long offset = 0; offset < read.bytes(); offset += PIECE) {
        Replies.sendData(
            channel,
            0,
            read.identity(),
            read.offset() + offset,
            read.address() + offset,
            Math.min(PIECE, read.bytes() - offset));
      }
    } finally {
      synchronized (queue) {
        queue.remove(read);
      }
      give(read.address(), read.bytes());
      read.context().events().give(read.event());
      pending.decrementAndGet();
      read.sent().countDown();
    }
  }

  /** For whoever waits it is sent once it is announced. */
  private void sendOnLanes(Read read) throws IOException {
    channel
        .lanes()
        .send(
            read.identity(),
            read.offset(),
            read.address(),
            read.bytes(),
            read.whole(),
            () -> {
              read.context().enter(device);
              give(read.address(), read.bytes());
            });
    try {
      Replies.announce(channel, read.identity(), read.offset(), read.bytes());
    } finally {
      synchronized (queue) {
        queue.remove(read);
      }
      read.context().events().give(read.event());
      pending.decrementAndGet();
      read.sent().countDown();
    }
  }

  private static void await(Read read) {
    try {
      read.sent().await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
