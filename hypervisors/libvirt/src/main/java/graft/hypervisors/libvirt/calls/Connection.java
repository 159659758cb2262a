package graft.hypervisors.libvirt.calls;

import graft.hypervisors.libvirt.calls.HypervisorException.Failure;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.libvirt.jna.ConnectionPointer;

/**
 * A native connection that cannot be used after it was closed: calls hold a read lock, {@link
 * #close} takes the write lock. There is no event loop, so that there is no thread to stop and no
 * keep-alive.
 */
public final class Connection {

  private static final long CLOSE_WAIT_MILLIS = 2_000;

  private final LibvirtUri uri;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private volatile boolean closed;
  private ConnectionPointer pointer;

  private Connection(LibvirtUri uri, ConnectionPointer pointer) {
    this.uri = uri;
    this.pointer = pointer;
  }

  public static Connection open(LibvirtUri uri) {
    LibvirtLibrary.load(uri);
    ConnectionPointer pointer = LibvirtLibrary.calls().virConnectOpen(uri.toString());
    if (pointer == null) {
      Optional<LibvirtError> error = Attempt.lastError();
      String reason = error.map(LibvirtError::message).orElse("libvirt recorded no error");
      throw new HostUnreachableException(
          new Failure("open", uri.toString(), reason, Advice.onOpen(uri, reason), error), null);
    }
    return new Connection(uri, pointer);
  }

  public LibvirtUri uri() {
    return uri;
  }

  /** The name of an object of this host, for messages. */
  public String target(String kind, String name) {
    return kind + " '" + name + "' at " + uri;
  }

  public <T> T with(Function<ConnectionPointer, T> call) {
    lock.readLock().lock();
    try {
      if (closed) {
        throw new IllegalStateException("the connection to " + uri + " is closed");
      }
      return call.apply(pointer);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Closes the connection once no call is in progress. If a call hangs in libvirt, the connection
   * stays open until the process ends: this is better than to hang as well, or to free memory that
   * the call still uses.
   */
  public void close() {
    closed = true;
    boolean locked = false;
    try {
      locked = lock.writeLock().tryLock(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!locked) {
      return;
    }
    try {
      if (pointer != null) {
        LibvirtLibrary.calls().virConnectClose(pointer);
        pointer = null;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }
}
