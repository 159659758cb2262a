package graft.remoting.server.session.memory;

import com.sun.jna.Pointer;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Contents that later sessions need not send again. A background thread hashes what the client has
 * sent and gives it to the server to keep. Nothing is kept for a client that does not ask what is
 * known.
 */
public final class KeptContents {
  private final ContentExchange exchange;
  private final HostMemory memory;
  private final String thread;
  private final LinkedBlockingQueue<Sent> sent = new LinkedBlockingQueue<>();
  private boolean asked;

  private record Sent(long address, long bytes, Runnable freed) {}

  /**
   * Creates the contents of a session.
   *
   * @param memory counts what waits to be hashed
   * @param thread the name of the thread
   */
  public KeptContents(ContentExchange exchange, HostMemory memory, String thread) {
    this.exchange = exchange;
    this.memory = memory;
    this.thread = thread;
  }

  /** Returns the concatenated hashes of what is known; from now on, what is sent is kept. */
  public byte[] known() {
    if (!asked) {
      asked = true;
      Thread keeper = new Thread(null, this::keep, thread, 128 << 10);
      keeper.setDaemon(true);
      keeper.start();
    }
    return exchange.known().array();
  }

  /** Returns whether the client has asked what is known. */
  public boolean isAsked() {
    return asked;
  }

  /**
   * Takes over memory with a content, which is kept; then the memory is freed.
   *
   * @param freed run afterwards, on another thread
   */
  public void take(long address, long bytes, Runnable freed) {
    sent.add(new Sent(address, bytes, freed));
  }

  /** Frees memory that was counted and is not to be kept. */
  public void free(long address, long bytes) {
    Memory.free(address);
    memory.give(bytes);
  }

  private void keep() {
    try {
      while (true) {
        Sent content = sent.take();
        keep(content);
        free(content.address(), content.bytes());
        content.freed().run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void keep(Sent content) {
    int fd = Libc.memfd_create(thread, Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    if (fd < 0) {
      return;
    }
    long done = 0;
    while (done < content.bytes()) {
      long count = Libc.write(fd, content.address() + done, content.bytes() - done);
      if (count <= 0) {
        break;
      }
      done += count;
    }
    if (done == content.bytes() && Libc.fcntl(fd, Libc.F_ADD_SEALS, ContentExchange.SEALS) == 0) {
      exchange.keep(hash(content), fd);
    }
    Libc.close(fd);
  }

  private static Bytes hash(Sent content) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(new Pointer(content.address()).getByteBuffer(0, content.bytes()));
      return Bytes.of(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /**
   * A content that is kept, mapped until it is closed.
   *
   * @param address where nothing can write
   */
  public record Content(long address, long bytes) implements AutoCloseable {
    @Override
    public void close() {
      Libc.munmap(address, bytes);
    }
  }

  /** Maps the content with that hash; returns null if there is none, or no room to map it. */
  public Content find(Bytes hash) {
    int fd = exchange.find(hash);
    if (fd < 0) {
      return null;
    }
    long bytes = Libc.lseek(fd, 0, Libc.SEEK_END);
    long mapped = Libc.mmap(0, bytes, Libc.PROT_READ, Libc.MAP_PRIVATE, fd, 0);
    Libc.close(fd);
    return mapped == -1 ? null : new Content(mapped, bytes);
  }
}
