package graft.hypervisors.libvirt.calls;

import graft.hypervisors.libvirt.calls.HypervisorException.Failure;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Function;
import org.libvirt.jna.ConnectionPointer;

/**
 * A host's libvirt daemon, by native connections that one thread uses at a time: a thread that
 * calls while others do gets a connection of its own. Threads may share one by libvirt's rules, but
 * then one of them sends and receives for all, and in libvirt 9.0 it can miss that another has
 * something to send until its own call ends. There is no event loop, so that there is no thread to
 * stop and no keep-alive.
 */
public final class Connection {

  private final LibvirtUri uri;
  private final Deque<ConnectionPointer> idle = new ArrayDeque<>();
  private boolean closed;

  private Connection(LibvirtUri uri) {
    this.uri = uri;
  }

  /**
   * Connects to a daemon.
   *
   * @throws HostUnreachableException if it does not answer
   */
  public static Connection open(LibvirtUri uri) {
    LibvirtLibrary.load(uri);
    Connection opened = new Connection(uri);
    opened.idle.push(opened.connect());
    return opened;
  }

  private ConnectionPointer connect() {
    ConnectionPointer pointer = LibvirtLibrary.calls().virConnectOpen(uri.toString());
    if (pointer == null) {
      Optional<LibvirtError> error = Attempt.lastError();
      String reason = error.map(LibvirtError::message).orElse("libvirt recorded no error");
      throw new HostUnreachableException(
          new Failure("open", uri.toString(), reason, Advice.onOpen(uri, reason), error), null);
    }
    return pointer;
  }

  public LibvirtUri uri() {
    return uri;
  }

  /** The name of an object of this host, for messages. */
  public String target(String kind, String name) {
    return kind + " '" + name + "' at " + uri;
  }

  /** Makes calls with a connection that nobody else uses meanwhile. */
  public <T> T with(Function<ConnectionPointer, T> call) {
    try (Lent lent = lend()) {
      return call.apply(lent.pointer());
    }
  }

  /**
   * A connection for what outlives one call.
   *
   * @throws HostUnreachableException if there is none to spare and the daemon accepts no other
   */
  public Lent lend() {
    ConnectionPointer pointer;
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the connection to " + uri + " is closed");
      }
      pointer = idle.poll();
    }
    return new Lent(pointer == null ? connect() : pointer);
  }

  /** A native connection for its holder alone. */
  public final class Lent implements AutoCloseable {
    private final ConnectionPointer pointer;

    private Lent(ConnectionPointer pointer) {
      this.pointer = pointer;
    }

    public ConnectionPointer pointer() {
      return pointer;
    }

    /** Gives it back, once. */
    @Override
    public void close() {
      synchronized (Connection.this) {
        if (!closed) {
          idle.push(pointer);
          return;
        }
      }
      LibvirtLibrary.calls().virConnectClose(pointer);
    }
  }

  /**
   * Closes the connections, and each one that is in use when it is given back: a call that hangs in
   * libvirt is not waited for.
   */
  public void close() {
    Deque<ConnectionPointer> unused;
    synchronized (this) {
      closed = true;
      unused = new ArrayDeque<>(idle);
      idle.clear();
    }
    unused.forEach(LibvirtLibrary.calls()::virConnectClose);
  }
}
