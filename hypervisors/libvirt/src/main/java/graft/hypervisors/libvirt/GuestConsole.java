package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.nio.ByteBuffer;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.DomainPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.SizeT;
import org.libvirt.jna.StreamPointer;

/**
 * The open console of a guest, by a stream of libvirt. One thread may read while another writes and
 * a third closes it.
 *
 * @see <a href="https://libvirt.org/html/libvirt-libvirt-domain.html#virDomainOpenConsole">
 *     virDomainOpenConsole</a>
 */
public final class GuestConsole implements AutoCloseable {
  /** VIR_DOMAIN_CONSOLE_FORCE. */
  private static final int FORCE = 1;

  /** Less than what one message of libvirt's protocol can carry. */
  private static final int PIECE = 1 << 16;

  private static final long CLOSE_WAIT_MILLIS = 2_000;

  private static final long WAKE_MILLIS = 100;

  private static final ScheduledExecutorService WAKING =
      Executors.newSingleThreadScheduledExecutor(GuestConsole::wakingThread);

  private final Guest guest;
  private final Attempt reading;
  private final Attempt writing;
  private final StreamPointer stream;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final ByteBuffer in = ByteBuffer.allocateDirect(PIECE);
  private final ByteBuffer out = ByteBuffer.allocateDirect(PIECE);
  private volatile boolean closed;

  private GuestConsole(Guest guest, StreamPointer stream) {
    this.guest = guest;
    this.reading = guest.attempt("read the console of");
    this.writing = guest.attempt("write to the console of");
    this.stream = stream;
  }

  private static Thread wakingThread(Runnable work) {
    Thread thread = new Thread(work, "graft-console-wakeup");
    thread.setDaemon(true);
    return thread;
  }

  static GuestConsole open(
      Guest guest, ConnectionPointer connection, DomainPointer domain, boolean force) {
    Libvirt calls = LibvirtLibrary.calls();
    Attempt attempt = guest.attempt("open the console of");
    StreamPointer stream = attempt.check(calls.virStreamNew(connection, 0));
    // The LXC driver knows no flag, and gives the console to everybody.
    int flags = force && !guest.isContainer() ? FORCE : 0;
    if (LibvirtLibrary.extras().virDomainOpenConsole(domain, null, stream, flags) < 0) {
      HypervisorException failure = attempt.failure();
      calls.virStreamFree(stream);
      throw failure;
    }
    return new GuestConsole(guest, stream);
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
    lock.readLock().lock();
    try {
      if (closed) {
        return -1;
      }
      SizeT most = new SizeT(Math.min(into.length, PIECE));
      in.clear();
      int count = LibvirtLibrary.calls().virStreamRecv(stream, in, most);
      if (count < 0 && !closed) {
        throw reading.failure();
      }
      if (count <= 0) {
        return -1;
      }
      in.get(into, 0, count);
      return count;
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Writes what a person or a program types at the console. */
  public void write(byte[] typed, int count) {
    lock.readLock().lock();
    try {
      for (int sent = 0; sent < count && !closed; ) {
        int size = Math.min(count - sent, PIECE);
        out.clear().put(typed, sent, size).flip();
        int taken = send(() -> LibvirtLibrary.calls().virStreamSend(stream, out, new SizeT(size)));
        if (taken < 0 && !closed) {
          throw writing.failure();
        }
        sent += Math.max(0, taken);
      }
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Makes a call that sends something, and sees to it that it is sent. A thread that reads sends
   * for all threads of the connection; in libvirt 9.0 it misses what comes while it is just about
   * to wait, and sends it only once the console prints something, which may be never. Any other
   * request wakes it again.
   */
  private int send(IntSupplier call) {
    Future<?> waking =
        WAKING.scheduleWithFixedDelay(
            guest::state, WAKE_MILLIS, WAKE_MILLIS, TimeUnit.MILLISECONDS);
    try {
      return call.getAsInt();
    } finally {
      waking.cancel(false);
    }
  }

  /**
   * Gives the console back, which ends a {@link #read} in progress. If a call hangs in libvirt, the
   * stream's memory is left to the end of the process.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    send(() -> LibvirtLibrary.calls().virStreamAbort(stream));
    try {
      if (lock.writeLock().tryLock(CLOSE_WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
        LibvirtLibrary.calls().virStreamFree(stream);
        lock.writeLock().unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
