package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bulk data to the client: chunks of reads, which whichever connection is free sends in the
 * background. An answer on the session's own stream announces them.
 */
final class OutgoingData {
  private final Polling polling;
  private final AtomicLong bytes = new AtomicLong();

  @GuardedBy("this")
  private final ArrayDeque<Block> queue = new ArrayDeque<>();

  /** How many connections' threads sleep until there is something to send. */
  @GuardedBy("this")
  private int idle;

  /** Whether the queue has something; written under this lock. */
  private volatile boolean hasWork;

  /** Why nothing is sent any more; written under this lock. */
  private volatile IOException failure;

  OutgoingData(Polling polling) {
    this.polling = polling;
  }

  /** A part of a read that is sent in chunks. */
  static final class Block {
    private final long read;
    private final long offset;
    private final long address;
    private final long bytes;
    private final long chunk;
    private final Sender sender;
    private final Runnable sent;
    private long claimed; // guarded by the queue's lock, as it is queued
    private final AtomicLong unsent;

    /**
     * A block.
     *
     * @param read what the client knows the read by
     * @param offset where in the read the block belongs
     * @param chunk how much of it goes at once
     * @param sent what to do when nothing reads the memory any more
     */
    Block(
        long read,
        long offset,
        long address,
        long bytes,
        long chunk,
        Sender sender,
        Runnable sent) {
      this.read = read;
      this.offset = offset;
      this.address = address;
      this.bytes = bytes;
      this.chunk = chunk;
      this.sender = sender;
      this.sent = sent;
      this.unsent = new AtomicLong(bytes);
    }

    private void finish(long length) {
      if (unsent.addAndGet(-length) == 0) {
        sent.run();
      }
    }
  }

  /** A chunk of a block. */
  record Chunk(Block block, long at, long length) {
    long read() {
      return block.read;
    }

    /** Where it belongs in its read. */
    long offset() {
      return block.offset + at;
    }

    long address() {
      return block.address + at;
    }

    Sender sender() {
      return block.sender;
    }
  }

  /** Bytes sent so far. */
  long bytes() {
    return bytes.get();
  }

  /** Whether something waits to be sent. */
  boolean hasWork() {
    return hasWork;
  }

  /** Sends a block in the background. The order of blocks is not kept. */
  void send(Block block) {
    synchronized (this) {
      if (failure == null) {
        queue.add(block);
        hasWork = true;
        // As many threads as there are chunks: to wake one takes longer than to send one.
        long woken = Math.min(idle, block.bytes / block.chunk + 1);
        for (long i = 0; i < woken; i++) {
          notify();
        }
        return;
      }
    }
    block.sent.run();
  }

  /** The next chunk to send. Waits for it, polling first: behind one chunk the next is not far. */
  Chunk next() throws IOException, InterruptedException {
    polling.poll(() -> hasWork || failure != null);
    synchronized (this) {
      while (queue.isEmpty()) {
        if (failure != null) {
          throw new IOException(failure.getMessage(), failure);
        }
        idle++;
        wait();
        idle--;
      }
      Block block = queue.element();
      long at = block.claimed;
      long length = Math.min(block.bytes - at, block.chunk);
      block.claimed += length;
      if (block.claimed == block.bytes) {
        queue.remove();
        hasWork = !queue.isEmpty();
      }
      return new Chunk(block, at, length);
    }
  }

  /** A chunk is in the socket, or lost with it. */
  void sent(Chunk chunk) {
    bytes.addAndGet(chunk.length());
    chunk.block().finish(chunk.length());
  }

  /** Nothing is sent any more; what was queued counts as sent. */
  void fail(IOException reason) {
    ArrayDeque<Block> lost;
    synchronized (this) {
      if (failure == null) {
        failure = reason;
      }
      lost = new ArrayDeque<>(queue);
      queue.clear();
      hasWork = false;
      notifyAll();
    }
    for (Block block : lost) {
      block.finish(block.bytes - block.claimed);
    }
  }
}
