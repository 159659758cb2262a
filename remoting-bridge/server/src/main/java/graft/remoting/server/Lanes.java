package graft.remoting.server;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * A session's further connections for bulk data, since one TCP stream carries less than a GPU
 * takes. Data goes in pieces on whichever connection is free.
 *
 * <p>From the client: a record with the flag counts as a transfer. The executor begins it there and
 * waits, then or later, until all of its pieces have come; a piece that is early waits in its
 * socket until all transfers before its own are over. To the client: pieces of reads are sent in
 * the background; an answer on the session's own stream announces them. Thread-safe, except that
 * one thread at a time receives.
 */
final class Lanes {
  /** What is copied to the device or from it at once. */
  static final int PIECE = 1 << 20;

  /** From here on data to the client goes here. */
  static final int LEAST = 512 << 10;

  static final int MOST = 16;

  /** Transfers that may be begun at once. */
  private static final int MOST_INCOMING = 64;

  private static final int SMALLEST_PIECE = 128 << 10;
  private static final int LARGEST_PIECE = 512 << 10;
  private static final int GRAIN = 64 << 10;

  /**
   * How long threads that have polled in vain go on looking, giving way to others, before they
   * sleep: to be woken costs 0.2 to 0.4 ms in a virtual machine. Not where CPUs are few.
   */
  private static final long LANE_YIELD_NANOS = 1_000_000;

  private static final long TRANSFER_YIELD_NANOS = 10_000_000;
  private static final int YIELD_CPUS = 4;

  private final long spinNanos;
  private final boolean yields;
  private final AtomicLong bytesIn = new AtomicLong();
  private final AtomicLong bytesOut = new AtomicLong();
  private final ArrayDeque<Outgoing> outgoing = new ArrayDeque<>();
  private volatile boolean toSend;
  private int idle; // threads that wait for something to send
  private Runnable endSession = () -> {};
  private final ArrayDeque<Incoming> incoming = new ArrayDeque<>(); // begun and not over
  private volatile boolean isIdle = true; // no transfer is begun and not over
  private volatile boolean asleep; // the executor, until a piece comes
  private long transfers;
  private volatile int count;
  private volatile IOException failure;

  Lanes(long spinNanos) {
    this.spinNanos = spinNanos;
    this.yields = spinNanos > 0 && Runtime.getRuntime().availableProcessors() >= YIELD_CPUS;
  }

  /** Polls until it is so, for a moment only, and then gives way between looks. */
  @SuppressWarnings("ThreadPriorityCheck") // others are to run if there are any
  private void look(BooleanSupplier there, long yieldNanos) {
    long start = System.nanoTime();
    long waited = 0;
    while (waited < (yields ? yieldNanos : spinNanos) && !there.getAsBoolean()) {
      if (waited < spinNanos) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      waited = System.nanoTime() - start;
    }
  }

  /** Looks for a moment whether it is so, for a thread that sends what is to come. */
  void lookFor(BooleanSupplier there) {
    look(there, LANE_YIELD_NANOS);
  }

  /** Looks whether something has come on a connection on which a piece came just now. */
  @SuppressWarnings("ThreadPriorityCheck") // as above
  long awaitNext(Transport connection, long address, long length) throws IOException {
    long start = System.nanoTime();
    long count = connection.tryReceive(address, length);
    while (yields && count == Transport.NOTHING && System.nanoTime() - start < LANE_YIELD_NANOS) {
      Thread.yield();
      count = connection.tryReceive(address, length);
    }
    return count;
  }

  /** Where the pieces of a transfer go. */
  interface Destination {
    /** Takes all of a piece from {@code lane}. Called by several threads at once. */
    void take(Lane lane, long offset, long length) throws IOException;

    /**
     * What the executor does with what has been taken, again and again until all has. A lane says
     * with {@link Lane#arrived} that there is something.
     */
    default void settle() {}

    /** Whether there is something to settle. */
    default boolean isUnsettled() {
      return false;
    }
  }

  /** How memory is sent. */
  interface Sender {
    /** Sends all of it, behind its header. */
    void send(Transport connection, long address, long length) throws IOException;
  }

  static final Sender FROM_MEMORY =
      (connection, address, length) -> connection.sendAll(address, length, false);

  /** Data from the client on its way. */
  static final class Incoming {
    private final long number;
    private final Destination destination;
    private final long bytes;
    private final AtomicLong left;
    private long unclaimed;

    private Incoming(long number, Destination destination, long bytes) {
      this.number = number;
      this.destination = destination;
      this.bytes = bytes;
      this.left = new AtomicLong(bytes);
      this.unclaimed = bytes;
    }

    Destination destination() {
      return destination;
    }
  }

  /**
   * Data to the client on its way.
   *
   * @param read what the client knows it by
   * @param offset where in the read it belongs
   * @param piece how much of it goes at once
   * @param sent what to do when nothing reads the memory any more
   */
  record Outgoing(
      long read,
      long offset,
      long address,
      long bytes,
      long piece,
      Sender sender,
      Runnable sent,
      AtomicLong claimed,
      AtomicLong left) {}

  /** A piece of it. */
  record Piece(Outgoing of, long at, long length) {}

  /** What ends the session when a client breaks the rules here. */
  void onViolation(Runnable action) {
    endSession = action;
  }

  /** Takes over one more connection; one too many is closed. */
  void add(Transport connection) {
    int number;
    synchronized (this) {
      if (count == MOST) {
        connection.close();
        return;
      }
      number = count++;
    }
    Lane.start(this, number, connection);
  }

  int count() {
    return count;
  }

  boolean areOpen() {
    return count > 0 && failure == null;
  }

  long bytesIn() {
    return bytesIn.get();
  }

  long bytesOut() {
    return bytesOut.get();
  }

  /**
   * Begins the transfer that the executor has come to, without waiting for it: {@link #await} does.
   *
   * @throws IOException when a connection ends before there is room for it
   */
  void begin(long bytes, Destination destination) throws IOException {
    if (isFull()) {
      await(nowhere());
    }
    synchronized (this) {
      incoming.add(new Incoming(++transfers, destination, bytes));
      isIdle = false;
      notifyAll();
    }
  }

  private synchronized boolean isFull() {
    return incoming.size() == MOST_INCOMING;
  }

  /**
   * Waits until all that was begun has come.
   *
   * @param destination of the last, to which the executor sees meanwhile
   * @throws IOException when a connection ends before
   */
  void await(Destination destination) throws IOException {
    while (!isIdle) {
      long before = bytesIn.get();
      look(
          () -> {
            destination.settle();
            return isIdle || bytesIn.get() != before || failure != null;
          },
          TRANSFER_YIELD_NANOS);
      destination.settle();
      if (bytesIn.get() == before) {
        awaitPiece(destination);
      }
    }
    destination.settle();
  }

  private synchronized void awaitPiece(Destination destination) throws IOException {
    asleep = true;
    try {
      while (!incoming.isEmpty() && !destination.isUnsettled()) {
        if (failure != null) {
          throw new IOException(failure.getMessage(), failure);
        }
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted within bulk data", e);
    } finally {
      asleep = false;
    }
  }

  /** Wakes the executor, if it sleeps. */
  void arrived() {
    if (asleep) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** A destination in memory. */
  static Destination memory(long address) {
    return (lane, offset, length) -> lane.take(address + offset, length);
  }

  /** A destination for what nobody wants. */
  static Destination nowhere() {
    return (lane, offset, length) -> lane.drop(length);
  }

  /**
   * The transfer that a piece belongs to; waits until the executor has come to it.
   *
   * @throws ProtocolException when it belongs to none, or does not fit
   */
  synchronized Incoming claim(long transfer, long offset, long length)
      throws IOException, InterruptedException {
    while (transfer > (incoming.isEmpty() ? transfers : incoming.element().number)) {
      if (failure != null) {
        throw new IOException(failure.getMessage(), failure);
      }
      wait();
    }
    Incoming first = incoming.peek();
    if (first == null
        || transfer != first.number
        || length <= 0
        || offset < 0
        || offset > first.bytes - length
        || length > first.unclaimed) {
      throw new ProtocolException(
          "a piece of "
              + Long.toUnsignedString(length)
              + " bytes at "
              + Long.toUnsignedString(offset)
              + " that fits no transfer");
    }
    first.unclaimed -= length;
    return first;
  }

  /** A piece is where it belongs. */
  void received(Incoming transfer, long length) {
    bytesIn.addAndGet(length);
    if (transfer.left.addAndGet(-length) == 0) {
      synchronized (this) {
        incoming.remove();
        isIdle = incoming.isEmpty();
        notifyAll();
      }
    }
  }

  /**
   * Sends in the background. The order of what is sent is not kept.
   *
   * @param whole how many bytes are sent in all of that read
   * @param sent run by a thread of ours when nothing reads the memory any more
   */
  void send(long read, long offset, long address, long bytes, long whole, Runnable sent) {
    send(read, offset, address, bytes, whole, FROM_MEMORY, sent);
  }

  /** The same in a way of its own. */
  void send(
      long read, long offset, long address, long bytes, long whole, Sender sender, Runnable sent) {
    long share = (whole / count / 2 + GRAIN - 1) / GRAIN * GRAIN;
    long piece = count == 1 ? bytes : Math.max(SMALLEST_PIECE, Math.min(LARGEST_PIECE, share));
    Outgoing data =
        new Outgoing(
            read,
            offset,
            address,
            bytes,
            piece,
            sender,
            sent,
            new AtomicLong(),
            new AtomicLong(bytes));
    synchronized (outgoing) {
      if (failure == null) {
        outgoing.add(data);
        toSend = true;
        // As many as there are pieces: to wake one takes longer than to send one.
        long pieces = Math.min(idle, bytes / piece + 1);
        for (long i = 0; i < pieces; i++) {
          outgoing.notify();
        }
        return;
      }
    }
    sent.run();
  }

  /** The next piece to send; waits for it, awake for a moment: after one the next is not far. */
  Piece nextPiece() throws IOException, InterruptedException {
    look(() -> toSend || failure != null, LANE_YIELD_NANOS);
    synchronized (outgoing) {
      while (outgoing.isEmpty()) {
        if (failure != null) {
          throw new IOException(failure.getMessage(), failure);
        }
        idle++;
        outgoing.wait();
        idle--;
      }
      Outgoing data = outgoing.element();
      long length = Math.min(data.bytes() - data.claimed().get(), data.piece());
      long at = data.claimed().getAndAdd(length);
      if (at + length == data.bytes()) {
        outgoing.remove();
        toSend = !outgoing.isEmpty();
      }
      return new Piece(data, at, length);
    }
  }

  /** A piece is in the socket, or lost with it. */
  void sent(Piece piece) {
    bytesOut.addAndGet(piece.length());
    if (piece.of().left().addAndGet(-piece.length()) == 0) {
      piece.of().sent().run();
    }
  }

  /** No connection is of use without the others. */
  void fail(IOException reason) {
    synchronized (this) {
      if (failure == null) {
        failure = reason;
      }
      notifyAll();
    }
    ArrayDeque<Outgoing> lost;
    synchronized (outgoing) {
      lost = new ArrayDeque<>(outgoing);
      outgoing.clear();
      toSend = false;
      outgoing.notifyAll();
    }
    for (Outgoing data : lost) {
      long rest = data.bytes() - data.claimed().get();
      if (data.left().addAndGet(-rest) == 0) {
        data.sent().run();
      }
    }
  }

  /** The client broke the rules: the session ends. */
  void endSession(ProtocolException reason) {
    fail(new IOException(reason.getMessage(), reason));
    endSession.run();
  }
}
