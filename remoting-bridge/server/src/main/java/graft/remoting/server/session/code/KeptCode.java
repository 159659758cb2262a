package graft.remoting.server.session.code;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.session.memory.KeptContents;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Scratch;

/** Code that later sessions need not send again. */
public final class KeptCode {
  /** Smaller code is sent faster than it is looked up. The client's code.c has the same limit. */
  private static final long LEAST = 64 << 10;

  private final KeptContents contents;
  private final HostMemory memory;

  /**
   * Creates the code of a session.
   *
   * @param memory counts the code that waits to be hashed, and copies of code while they are loaded
   */
  public KeptCode(ContentExchange exchange, HostMemory memory) {
    this.contents = new KeptContents(exchange, memory, "graft-code");
    this.memory = memory;
  }

  /** Writes the hashes of the code that is known. */
  int known(long hashes, int capacity, long count) {
    if (hashes == 0 || count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    byte[] known = contents.known();
    int there = Math.min(known.length, capacity) / ContentExchange.HASH;
    Memory.write(hashes, known, 0, there * ContentExchange.HASH);
    Memory.putInt(count, there);
    return CudaResult.SUCCESS;
  }

  /**
   * Takes over memory with code that was loaded, to keep the code or to free the memory, which is
   * then no longer counted.
   */
  void take(long image, long bytes) {
    if (contents.isAsked() && bytes >= LEAST) {
      contents.take(image, bytes, () -> {});
    } else {
      contents.free(image, bytes);
    }
  }

  /** Finds code by its hash, passes it to the driver, and frees the memory. */
  int use(long hash, CodeUser user) {
    if (hash == 0) {
      return CudaResult.INVALID_VALUE;
    }
    try (KeptContents.Content code =
        contents.find(Bytes.of(Scratch.bytesAt(hash, ContentExchange.HASH)))) {
      if (code == null) {
        return CudaResult.INVALID_IMAGE;
      }
      if (!memory.take(code.bytes())) {
        return CudaResult.OUT_OF_MEMORY;
      }
      // The image is followed by a zero byte, in case it is PTX text.
      long image = Memory.allocate(code.bytes() + 8);
      try {
        Memory.copy(code.address(), image, code.bytes());
        Memory.putLong(image + code.bytes(), 0);
        return user.use(image, code.bytes());
      } finally {
        contents.free(image, code.bytes());
      }
    }
  }

  interface CodeUser {
    int use(long image, long bytes);
  }
}
