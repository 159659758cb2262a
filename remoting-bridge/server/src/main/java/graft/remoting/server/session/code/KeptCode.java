package graft.remoting.server.session.code;

import com.sun.jna.Pointer;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.CodeExchange;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Code that later sessions need not send again. A background thread hashes the code that the client
 * sends and gives it to the server to keep. Nothing is kept for a client that does not ask which
 * code is known.
 */
public final class KeptCode {
  /** Smaller code is sent faster than it is looked up. The client's code.c has the same limit. */
  private static final long LEAST = 64 << 10;

  private final CodeExchange exchange;
  private final HostMemory memory;
  private final LinkedBlockingQueue<Image> images = new LinkedBlockingQueue<>();
  private boolean asked;

  private record Image(long address, long bytes) {}

  /**
   * Creates the code of a session.
   *
   * @param memory counts the code that waits to be hashed, and copies of code while they are loaded
   */
  public KeptCode(CodeExchange exchange, HostMemory memory) {
    this.exchange = exchange;
    this.memory = memory;
  }

  /** Writes the hashes of the code that is known. */
  int known(long hashes, int capacity, long count) {
    if (hashes == 0 || count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    if (!asked) {
      asked = true;
      Thread keeper = new Thread(null, this::keep, "graft-code", 128 << 10);
      keeper.setDaemon(true);
      keeper.start();
    }
    byte[] known = exchange.known().array();
    int there = Math.min(known.length, capacity) / CodeExchange.HASH;
    Memory.write(hashes, known, 0, there * CodeExchange.HASH);
    Memory.putInt(count, there);
    return CudaResult.SUCCESS;
  }

  /**
   * Takes over memory with code that was loaded, to keep the code or to free the memory, which is
   * then no longer counted.
   */
  void take(long image, long bytes) {
    if (asked && bytes >= LEAST) {
      images.add(new Image(image, bytes));
    } else {
      free(image, bytes);
    }
  }

  private void free(long image, long bytes) {
    Memory.free(image);
    memory.give(bytes);
  }

  private void keep() {
    try {
      while (true) {
        Image image = images.take();
        keep(image);
        free(image.address(), image.bytes());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void keep(Image image) {
    int fd = Libc.memfd_create("graft-code", Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    if (fd < 0) {
      return;
    }
    long done = 0;
    while (done < image.bytes()) {
      long count = Libc.write(fd, image.address() + done, image.bytes() - done);
      if (count <= 0) {
        break;
      }
      done += count;
    }
    if (done == image.bytes() && Libc.fcntl(fd, Libc.F_ADD_SEALS, CodeExchange.SEALS) == 0) {
      exchange.keep(hash(image), fd);
    }
    Libc.close(fd);
  }

  private static Bytes hash(Image image) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(new Pointer(image.address()).getByteBuffer(0, image.bytes()));
      return Bytes.of(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Finds code by its hash, passes it to the driver, and frees the memory. */
  int use(long hash, CodeUser user) {
    if (hash == 0) {
      return CudaResult.INVALID_VALUE;
    }
    int fd = exchange.code(Bytes.of(Scratch.bytesAt(hash, CodeExchange.HASH)));
    if (fd < 0) {
      return CudaResult.INVALID_IMAGE;
    }
    long bytes = Libc.lseek(fd, 0, Libc.SEEK_END);
    if (!memory.take(bytes)) {
      Libc.close(fd);
      return CudaResult.OUT_OF_MEMORY;
    }
    long mapped = Libc.mmap(0, bytes, Libc.PROT_READ, Libc.MAP_PRIVATE, fd, 0);
    Libc.close(fd);
    if (mapped == -1) {
      memory.give(bytes);
      return CudaResult.OUT_OF_MEMORY;
    }
    // The image is followed by a zero byte, in case it is PTX text.
    long image = Memory.allocate(bytes + 8);
    try {
      Memory.copy(mapped, image, bytes);
      Memory.putLong(image + bytes, 0);
      return user.use(image, bytes);
    } finally {
      free(image, bytes);
      Libc.munmap(mapped, bytes);
    }
  }

  interface CodeUser {
    int use(long image, long bytes);
  }
}
