package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.protocol.ProtocolException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Bulk data from the client. The executor begins a transfer when it comes to its record, and waits,
 * then or later, until all of its chunks have arrived; a chunk that is early waits in its socket
 * until its transfer has begun. Several transfers are on their way at once, and take effect in
 * their order.
 *
 * <p>The executor calls {@link #begin} to {@link #attend}; the connections' threads call the rest.
 */
public final class IncomingData {
  /** How many transfers may have begun and not be over. */
  private static final int MOST_TRANSFERS = 64;

  private final Polling polling;
  private final AtomicLong bytes = new AtomicLong();

  /** The transfers that have begun, the oldest first. The executor alone uses this. */
  private final ArrayDeque<Transfer> mine = new ArrayDeque<>();

  /** The same transfers, for the connections' threads. */
  @GuardedBy("this")
  private final ArrayDeque<Transfer> begun = new ArrayDeque<>();

  /** How many connections' threads wait for others' chunks. */
  @GuardedBy("this")
  private int waiting;

  /** How many transfers have begun since the session's start; written under this lock. */
  private volatile long count;

  /** Whether the executor sleeps until a chunk arrives; written under this lock. */
  private volatile boolean isAsleep;

  /** Why no more data comes; written under this lock. */
  private volatile IOException failure;

  IncomingData(Polling polling) {
    this.polling = polling;
  }

  /** What else the executor may have to do. */
  public interface OtherWork {
    boolean isThere() throws IOException;
  }

  /** Bytes received so far. */
  long bytes() {
    return bytes.get();
  }

  boolean hasFailed() {
    return failure != null;
  }

  /**
   * Begins the transfer that the executor has come to, without waiting for it: {@link #await} does.
   *
   * @throws IOException when a connection ends before there is room for it
   */
  public void begin(long length, Destination destination) throws IOException {
    settle();
    while (mine.size() == MOST_TRANSFERS) {
      awaitSome(() -> false);
    }
    long address = destination.address();
    boolean overlaps = address != 0 && behind(address, length) >= 0;
    Transfer transfer = new Transfer(count + 1, destination, length, overlaps);
    mine.add(transfer);
    synchronized (this) {
      begun.add(transfer);
      count = transfer.number();
      notifyAll();
    }
  }

  /** Whether the executor has to settle something of what has begun. */
  public boolean isToSettle() {
    for (Transfer transfer : mine) {
      if (transfer.destination().address() == 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * How many bytes were begun behind the last transfer that goes directly to that memory; -1 if
   * none does.
   */
  public long behind(long address, long length) {
    long behind = 0;
    for (Iterator<Transfer> last = mine.descendingIterator(); last.hasNext(); ) {
      Transfer transfer = last.next();
      if (transfer.goesTo(address, length)) {
        return behind;
      }
      behind += transfer.bytes();
    }
    return -1;
  }

  /**
   * Waits until all that has begun is over, and settles it.
   *
   * @throws IOException when a connection ends before
   */
  public void await() throws IOException {
    settle();
    while (!mine.isEmpty()) {
      awaitSome(() -> false);
    }
  }

  /**
   * Settles what arrives until there is other work, or nothing more to settle.
   *
   * @throws IOException when a connection ends before
   */
  public void attend(OtherWork other) throws IOException {
    while (isToSettle() && !other.isThere()) {
      awaitSome(other);
    }
  }

  /** Settles what has arrived, the oldest transfer first. */
  private void settle() {
    Transfer first;
    while ((first = mine.peek()) != null) {
      boolean isLast = first.hasArrived();
      first.destination().settle();
      if (!isLast) {
        return;
      }
      first.destination().end();
      mine.remove();
      synchronized (this) {
        begun.remove();
      }
    }
  }

  /** Waits until something has arrived, the oldest transfer is over, or there is other work. */
  private void awaitSome(OtherWork other) throws IOException {
    Transfer first = mine.peek();
    long before = bytes.get();
    boolean[] isOther = new boolean[1];
    polling.pollForTransfer(
        () -> {
          if (mine.peek() != first || bytes.get() != before || failure != null) {
            return true;
          }
          isOther[0] = other.isThere();
          if (!isOther[0]) {
            settle();
          }
          return isOther[0];
        });
    if (isOther[0]) {
      return;
    }
    settle();
    if (mine.peek() == first && bytes.get() == before) {
      sleepUntilSome();
      settle();
    }
  }

  private synchronized void sleepUntilSome() throws IOException {
    Transfer first = mine.peek();
    isAsleep = true;
    try {
      sleepUntil(() -> first == null || first.hasArrived() || first.destination().isUnsettled());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted within bulk data", e);
    } finally {
      isAsleep = false;
    }
  }

  private synchronized void sleepUntil(BooleanSupplier isSo)
      throws IOException, InterruptedException {
    while (!isSo.getAsBoolean()) {
      if (failure != null) {
        throw new IOException(failure.getMessage(), failure);
      }
      wait();
    }
  }

  /** Wakes the executor, if it sleeps: a destination has something to settle. */
  void arrived() {
    if (isAsleep) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Whether the executor has come to that transfer. */
  boolean hasBegun(long transfer) {
    return transfer <= count;
  }

  /**
   * The transfer to which a chunk belongs; waits until the executor has come to it.
   *
   * @throws ProtocolException when the chunk belongs to none, or does not fit
   */
  Transfer claim(long number, long offset, long length) throws IOException, InterruptedException {
    // The record may be just behind its data, and to be woken takes longer than a chunk.
    polling.poll(() -> hasBegun(number) || failure != null);
    Transfer transfer;
    synchronized (this) {
      sleepUntil(() -> hasBegun(number));
      transfer = find(number);
    }
    if (transfer == null || !transfer.claim(offset, length)) {
      throw new ProtocolException(
          "a chunk of "
              + Long.toUnsignedString(length)
              + " bytes at "
              + Long.toUnsignedString(offset)
              + " that fits no transfer");
    }
    return transfer;
  }

  @GuardedBy("this")
  private Transfer find(long number) {
    for (Transfer transfer : begun) {
      if (transfer.number() == number) {
        return transfer;
      }
    }
    return null;
  }

  /** Whether a chunk may be received: earlier transfers are done with the memory it goes to. */
  boolean mayReceive(Transfer transfer, long offset, long length) {
    return !transfer.overlapsEarlier() || isFree(transfer, offset, length);
  }

  private synchronized boolean isFree(Transfer transfer, long offset, long length) {
    for (Transfer before : begun) {
      if (before == transfer) {
        return true;
      }
      if (!before.isDoneWith(transfer.destination().address() + offset, length)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Waits until the chunk may be received, while other connections receive what is before it.
   *
   * @throws IOException when one of them ends before
   */
  void awaitTurn(Transfer transfer, long offset, long length)
      throws IOException, InterruptedException {
    polling.poll(() -> mayReceive(transfer, offset, length) || failure != null);
    synchronized (this) {
      waiting++;
      try {
        sleepUntil(() -> isFree(transfer, offset, length));
      } finally {
        waiting--;
      }
    }
  }

  /** A part of a chunk is where it belongs. */
  void received(Transfer transfer, long offset, long length) {
    boolean isLast = transfer.count(length);
    bytes.addAndGet(length);
    boolean isDirect = transfer.destination().address() != 0;
    if (isLast || isDirect) {
      synchronized (this) {
        transfer.note(offset, length);
        if (isLast || waiting > 0) {
          notifyAll();
        }
      }
    }
  }

  /** No more data comes; whoever waits for it gets the first reason. */
  synchronized void fail(IOException reason) {
    if (failure == null) {
      failure = reason;
    }
    notifyAll();
  }
}
