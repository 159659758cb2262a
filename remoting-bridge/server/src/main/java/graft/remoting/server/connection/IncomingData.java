package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.protocol.ProtocolException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Bulk data from the client on data connections. The executor begins a transfer when it reaches the
 * transfer's record, and waits for its chunks then or later. A chunk that arrives before its
 * transfer has begun stays in its socket. Several transfers are received at once and take effect in
 * order.
 *
 * <p>The executor calls the methods from {@link #begin} to {@link #attend}; the connections'
 * threads call the others.
 */
public final class IncomingData {
  /** The largest number of transfers that have begun and are not complete. */
  private static final int MOST_TRANSFERS = 64;

  private final Polling polling;
  private final AtomicLong bytes = new AtomicLong();

  /** The transfers that have begun, oldest first. Only the executor uses this queue. */
  private final ArrayDeque<Transfer> mine = new ArrayDeque<>();

  /** The same transfers, for the connections' threads. */
  @GuardedBy("this")
  private final ArrayDeque<Transfer> begun = new ArrayDeque<>();

  /** The number of connections' threads that wait for chunks of other connections. */
  @GuardedBy("this")
  private int waiting;

  /**
   * The number of transfers that have begun since the start of the session; written while this lock
   * is held.
   */
  private volatile long count;

  /** Whether the executor sleeps until a chunk arrives; written while this lock is held. */
  private volatile boolean isAsleep;

  /** Why no more data arrives; written while this lock is held. */
  private volatile IOException failure;

  IncomingData(Polling polling) {
    this.polling = polling;
  }

  /** Other work that the executor may have to do. */
  public interface OtherWork {
    boolean isThere() throws IOException;
  }

  /** Returns the bytes received so far. */
  long bytes() {
    return bytes.get();
  }

  boolean hasFailed() {
    return failure != null;
  }

  /**
   * Begins the transfer whose record the executor has reached, without waiting for the transfer's
   * data.
   *
   * @throws IOException if a connection ends before there is room for another transfer
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

  /** Returns whether the executor has to process data of a transfer that has begun. */
  public boolean isToSettle() {
    for (Transfer transfer : mine) {
      if (transfer.destination().address() == 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns how many bytes were begun after the last transfer that is received directly into that
   * memory; -1 if there is no such transfer.
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
   * Waits until all transfers that have begun are complete, and processes their data.
   *
   * @throws IOException if a connection ends earlier
   */
  public void await() throws IOException {
    settle();
    while (!mine.isEmpty()) {
      awaitSome(() -> false);
    }
  }

  /**
   * Processes data as it arrives, until there is other work or nothing is left to process.
   *
   * @throws IOException if a connection ends earlier
   */
  public void attend(OtherWork other) throws IOException {
    while (isToSettle() && !other.isThere()) {
      awaitSome(other);
    }
  }

  /** Processes the data that has arrived, oldest transfer first. */
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

  /** Waits until data has arrived, the oldest transfer is complete, or there is other work. */
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
      throw new IOException("interrupted while waiting for bulk data", e);
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

  /** Wakes the executor if it sleeps, because a destination has data to process. */
  void arrived() {
    if (isAsleep) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Returns whether the executor has reached the record of that transfer. */
  boolean hasBegun(long transfer) {
    return transfer <= count;
  }

  /**
   * Returns the transfer that a chunk belongs to, and waits until the executor has reached its
   * record.
   *
   * @throws ProtocolException if the chunk belongs to no transfer, or does not fit into its
   *     transfer
   */
  Transfer claim(long number, long offset, long length) throws IOException, InterruptedException {
    // The record often arrives just after its data, and being woken would take longer than
    // receiving a chunk.
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
              + " that belongs to no transfer");
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

  /**
   * Returns whether a chunk may be received, because earlier transfers to the same memory are
   * complete.
   */
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
   * Waits until a chunk may be received, while other connections receive the earlier ones.
   *
   * @throws IOException if a connection ends earlier
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

  /** Notes that part of a chunk has arrived. */
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

  /** Ends all waits, because no more data arrives. The first reason is reported. */
  synchronized void fail(IOException reason) {
    if (failure == null) {
      failure = reason;
    }
    notifyAll();
  }
}
