package graft.remoting.server.session.copy;

import graft.remoting.device.Memory;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.session.memory.KeptContents;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Scratch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Data that later sessions need not send again. While a write's data arrives, it is also copied
 * into memory of its own, which {@link KeptContents} hashes and keeps.
 */
public final class KeptData {
  /**
   * The sizes of the copies that are kept. The client divides larger ones (known_data.c, which has
   * the same limits).
   */
  static final long LEAST = 64 << 10;

  static final long MOST = 16 << 20;

  /** The most bytes that wait to be hashed. What comes meanwhile is not kept. */
  private static final long MOST_WAITING = 4 * MOST;

  /** The bytes of a hash that the client is told. It recognizes what it need not send by them. */
  static final int HINT = 16;

  private final KeptContents contents;
  private final HostMemory memory;
  private final AtomicLong waiting = new AtomicLong();

  /**
   * Creates the data of a session.
   *
   * @param memory counts the data that waits to be hashed
   */
  public KeptData(ContentExchange exchange, HostMemory memory) {
    this.contents = new KeptContents(exchange, memory, "graft-data");
    this.memory = memory;
  }

  /** Returns the beginnings of the hashes of the data that is known, {@link #HINT} bytes each. */
  byte[] known() {
    byte[] hashes = contents.known();
    byte[] hints = new byte[hashes.length / ContentExchange.HASH * HINT];
    for (int i = 0; i < hints.length / HINT; i++) {
      System.arraycopy(hashes, i * ContentExchange.HASH, hints, i * HINT, HINT);
    }
    return hints;
  }

  /** Maps the data with that hash; returns null if there is none of that length. */
  KeptContents.Content find(long hash, long bytes) {
    KeptContents.Content found =
        contents.find(Bytes.of(Scratch.bytesAt(hash, ContentExchange.HASH)));
    if (found != null && found.bytes() != bytes) {
      found.close();
      return null;
    }
    return found;
  }

  /** Returns whether data of that size is kept. */
  boolean keeps(long bytes) {
    return contents.isAsked() && bytes >= LEAST && bytes <= MOST;
  }

  /** Returns a copy of a write's data to keep; null if the data is not to be kept. */
  Copy begin(long bytes) {
    if (!keeps(bytes)) {
      return null;
    }
    if (waiting.addAndGet(bytes) > MOST_WAITING || !memory.takeSpare(bytes)) {
      waiting.addAndGet(-bytes);
      return null;
    }
    return new Copy(Memory.allocate(bytes), bytes);
  }

  /** A copy of the data of one write. */
  final class Copy {
    private final long address;
    private final long bytes;
    private final AtomicLong missing;

    private Copy(long address, long bytes) {
      this.address = address;
      this.bytes = bytes;
      this.missing = new AtomicLong(bytes);
      // A hostile client may send chunks that overlap, so that some bytes are never written.
      Memory.fill(address, bytes, (byte) 0);
    }

    /** Adds a part. Several threads may add parts. */
    void add(long offset, long source, long length) {
      Memory.copy(source, address + offset, length);
      missing.addAndGet(-length);
    }

    /** Keeps the data if all of it was added. The copy must not be used any more. */
    void end() {
      if (missing.get() == 0) {
        contents.take(address, bytes, () -> waiting.addAndGet(-bytes));
      } else {
        contents.free(address, bytes);
        waiting.addAndGet(-bytes);
      }
    }
  }
}
