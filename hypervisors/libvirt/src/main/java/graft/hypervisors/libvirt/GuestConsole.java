package graft.hypervisors.libvirt;

import com.sun.jna.ptr.LongByReference;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.libvirt.jna.DomainPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.SizeT;
import org.libvirt.jna.StreamPointer;

/**
 * The open console of a guest, by a stream of libvirt on a connection of its own. One thread may
 * read while another writes and a third closes it.
 *
 * <p>The calls of these threads to libvirt are made one at a time, and none waits for output. In
 * libvirt 9.0 two threads that use a connection at a time can wait for ever: the one that waits for
 * output sends for both, and misses what comes while it is just about to wait.
 *
 * @see <a href="https://libvirt.org/html/libvirt-libvirt-domain.html#virDomainOpenConsole">
 *     virDomainOpenConsole</a>
 */
public final class GuestConsole implements AutoCloseable {
  /** VIR_DOMAIN_CONSOLE_FORCE. */
  private static final int FORCE = 1;

  /** VIR_STREAM_NONBLOCK. */
  private static final int NONBLOCK = 1;

  /** What virStreamRecv returns if there is no output now. */
  private static final int NO_OUTPUT = -2;

  /** Less than what one message of libvirt's protocol can carry. */
  private static final int PIECE = 1 << 16;

  private static final long CLOSE_WAIT_MILLIS = 2_000;
  private static final long FIRST_PAUSE_MILLIS = 1;
  private static final long LAST_PAUSE_MILLIS = 50;

  private final Attempt reading;
  private final Attempt writing;
  private final Connection.Lent connection;
  private final StreamPointer stream;
  private final ReentrantLock lock = new ReentrantLock(true);
  private final Condition used = lock.newCondition();
  private final ByteBuffer in = ByteBuffer.allocateDirect(PIECE);
  private final ByteBuffer out = ByteBuffer.allocateDirect(PIECE);
  private boolean closed;

  private GuestConsole(Guest guest, Connection.Lent connection, StreamPointer stream) {
    this.reading = guest.attempt("read the console of");
    this.writing = guest.attempt("write to the console of");
    this.connection = connection;
    this.stream = stream;
  }

  /** Opens a guest's console. The connection is given back when the console is closed. */
  static GuestConsole open(
      Guest guest, Connection.Lent connection, DomainPointer domain, boolean force) {
    Libvirt calls = LibvirtLibrary.calls();
    Attempt attempt = guest.attempt("open the console of");
    StreamPointer stream = attempt.check(calls.virStreamNew(connection.pointer(), NONBLOCK));
    // The LXC driver knows no flag, and gives the console to everybody.
    int flags = force && !guest.isContainer() ? FORCE : 0;
    if (LibvirtLibrary.extras().virDomainOpenConsole(domain, null, stream, flags) < 0) {
      HypervisorException failure = attempt.failure();
      calls.virStreamFree(stream);
      throw failure;
    }
    return new GuestConsole(guest, connection, stream);
  }

  /**
   * Whether a failure to open a console says that another program has it open. libvirt has no code
   * of its own for that.
   */
  public static boolean isTaken(HypervisorException failure) {
    return failure.is(LibvirtError.Code.OPERATION_FAILED)
        && failure.reason().contains("Active console session exists");
  }

  /**
   * Waits for output and reads it.
   *
   * @return the number of bytes; -1 if the guest has stopped or the console was closed or given to
   *     another program
   */
  public int read(byte[] into) {
    lock.lock();
    try {
      long pause = FIRST_PAUSE_MILLIS;
      while (!closed) {
        int count = received(into);
        if (count == NO_OUTPUT) {
          fetch();
          count = received(into);
        }
        if (count == NO_OUTPUT) {
          pause = used.await(pause, TimeUnit.MILLISECONDS) ? FIRST_PAUSE_MILLIS : longer(pause);
          continue;
        }
        if (count < 0) {
          throw reading.failure();
        }
        return count == 0 ? -1 : count;
      }
      return -1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return -1;
    } finally {
      lock.unlock();
    }
  }

  private static long longer(long pause) {
    return Math.min(LAST_PAUSE_MILLIS, 2 * pause);
  }

  private int received(byte[] into) {
    in.clear();
    SizeT most = new SizeT(Math.min(into.length, PIECE));
    int count = LibvirtLibrary.calls().virStreamRecv(stream, in, most);
    if (count > 0) {
      in.get(into, 0, count);
    }
    return count;
  }

  /** Asks the daemon for anything: what has come before the answer is output of the stream. */
  private void fetch() {
    reading.check(
        LibvirtLibrary.calls()
            .virConnectGetLibVersion(connection.pointer(), new LongByReference()));
  }

  /** Writes what a person or a program types at the console. */
  public void write(byte[] typed, int count) {
    lock.lock();
    try {
      for (int sent = 0; sent < count && !closed; ) {
        int size = Math.min(count - sent, PIECE);
        out.clear().put(typed, sent, size).flip();
        int taken = LibvirtLibrary.calls().virStreamSend(stream, out, new SizeT(size));
        if (taken < 0) {
          throw writing.failure();
        }
        sent += taken;
      }
      used.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives the console back, which ends a {@link #read} in progress. If a call hangs in libvirt, the
   * stream and its connection are left to the end of the process.
   */
  @Override
  public void close() {
    try {
      if (!lock.tryLock(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    try {
      if (!closed) {
        closed = true;
        LibvirtLibrary.calls().virStreamAbort(stream);
        LibvirtLibrary.calls().virStreamFree(stream);
        connection.close();
        used.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }
}
