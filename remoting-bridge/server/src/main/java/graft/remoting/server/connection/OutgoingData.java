package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bulk data to the client: chunks of reads, each sent in the background by whichever data
 * connection is free. A reply on the session's own stream announces them.
 */
final class OutgoingData {
  private final Polling polling;
  private final AtomicLong bytes = new AtomicLong();

  @GuardedBy("this")
  private final ArrayDeque<Block> queue = new ArrayDeque<>();

  /** The number of connections' threads that sleep until there is something to send. */
  @GuardedBy("this")
  private int idle;

  /** Whether the queue has something to send; written while this lock is held. */
  private volatile boolean hasWork;

  /** Why nothing is sent any more; written while this lock is held. */
  private volatile IOException failure;

  OutgoingData(Polling polling) {
    this.polling = polling;
  }

  /** Part of a read that is sent in chunks. */
  static final class Block {
    private final long read;
    private final long offset;
    private final long address;
    private final long bytes;
    private final long chunk;
    private final Sender sender;
    private final Runnable sent;
    private long claimed; // guarded by the lock of the queue that the block is in
    private final AtomicLong unsent;

    /**
     * Creates a block.
     *
     * @param read the client's number for the read
     * @param offset the offset of the block in the read
     * @param chunk the size of a chunk
     * @param sent run when the memory may be reused
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

    /** Returns the offset of the chunk in its read. */
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

  /** Returns the bytes sent so far. */
  long bytes() {
    return bytes.get();
  }

  /** Returns whether something is queued. */
  boolean hasWork() {
    return hasWork;
  }

  /** Sends a block in the background. Blocks may be sent in any order. */
  void send(Block block) {
    synchronized (this) {
      if (failure == null) {
        queue.add(block);
        hasWork = true;
        // No more threads are woken than there are chunks, because waking one takes longer than
        // sending a chunk.
        long woken = Math.min(idle, block.bytes / block.chunk + 1);
        for (long i = 0; i < woken; i++) {
          notify();
        }
        return;
      }
    }
    block.sent.run();
  }

  /** Waits for the next chunk to send, polling first, since the next chunk usually follows soon. */
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

  /** Notes that a chunk has been sent, or lost with its connection. */
  void sent(Chunk chunk) {
    bytes.addAndGet(chunk.length());
    chunk.block().finish(chunk.length());
  }

  /** Stops sending. The blocks that are queued count as sent, so that their memory is released. */
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
