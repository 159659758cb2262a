package graft.remoting.server.connection;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * A session's further connections for bulk data, since one TCP stream carries less than a GPU
 * takes. Data goes in pieces on whichever connection is free.
 *
 * <p>From the client: a record with the flag counts as a transfer. The executor begins it there and
 * waits, then or later, until all of its pieces have come; a piece that is early waits in its
 * socket until its transfer is begun. Several transfers are on their way at once, and take effect
 * in their order. To the client: pieces of reads are sent in the background; an answer on the
 * session's own stream announces them. Thread-safe, except that one thread at a time receives.
 */
public final class Lanes {
  /** What is copied to the device or from it at once. */
  public static final int PIECE = 1 << 20;

  /** From here on data to the client goes here. */
  public static final int LEAST = 512 << 10;

  public static final int MOST = 16;

  /** Transfers that may be begun at once. */
  private static final int MOST_INCOMING = 64;

  private static final int SMALLEST_PIECE = 128 << 10;
  private static final int LARGEST_PIECE = 512 << 10;

  /** Where a piece goes as several messages that are on their way at once. */
  private static final int LARGEST_OF_SEVERAL = 8 << 20;

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
  private final ArrayDeque<Incoming> incoming = new ArrayDeque<>(); // the executor alone changes it
  private volatile boolean asleep; // the executor, until a piece comes
  private int waiting; // threads of lanes, until parts of others have come
  private volatile long transfers; // how many have been begun
  private volatile int count;
  private volatile boolean takeSeveral;
  private volatile IOException failure;

  public Lanes(long spinNanos) {
    this.spinNanos = spinNanos;
    this.yields = spinNanos > 0 && Runtime.getRuntime().availableProcessors() >= YIELD_CPUS;
  }

  /** Between two looks: polls for a moment only, and then gives way. */
  @SuppressWarnings("ThreadPriorityCheck") // others are to run if there are any
  private void pause(long waited) {
    if (waited < spinNanos) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /** Looks for a moment whether it is so, for a thread that sends what is to come. */
  public void lookFor(BooleanSupplier there) {
    long start = System.nanoTime();
    long waited = 0;
    while (waited < (yields ? LANE_YIELD_NANOS : spinNanos) && !there.getAsBoolean()) {
      pause(waited);
      waited = System.nanoTime() - start;
    }
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
  public interface Destination {
    /** Takes all of a piece from {@code lane}. Called by several threads at once. */
    void take(Lane lane, long offset, long length) throws IOException;

    /** Where in memory the transfer ends up as its pieces come, 0 if elsewhere or later. */
    default long address() {
      return 0;
    }

    /**
     * What the executor does with what has been taken, again and again until all has and the
     * transfers before are over. A lane says with {@link Lane#arrived} that there is something.
     */
    default void settle() {}

    /** Whether there is something to settle. */
    default boolean isUnsettled() {
      return false;
    }

    /** All has come and been settled. */
    default void end() {}
  }

  /** What the executor may have to do besides. */
  public interface Other {
    boolean isThere() throws IOException;
  }

  /** How memory is sent. */
  public interface Sender {
    /** Sends all of it, behind its header. */
    public void send(Transport connection, long address, long length) throws IOException;
  }

  public static final Sender FROM_MEMORY =
      (connection, address, length) -> connection.sendAll(address, length, false);

  /** Data from the client on its way. */
  static final class Incoming {
    private final long number;
    private final Destination destination;
    private final long bytes;
    private final boolean isSecond;
    private final AtomicLong left;
    private final TreeMap<Long, Long> come = new TreeMap<>(); // from an offset to another
    private long unclaimed;

    private Incoming(long number, Destination destination, long bytes, boolean isSecond) {
      this.number = number;
      this.destination = destination;
      this.bytes = bytes;
      this.isSecond = isSecond;
      this.left = new AtomicLong(bytes);
      this.unclaimed = bytes;
    }

    Destination destination() {
      return destination;
    }

    private boolean isThere() {
      return left.get() == 0;
    }

    private boolean goesTo(long address, long length) {
      long its = destination.address();
      return its != 0 && its - address < length && address - its < bytes;
    }

    private void comes(long offset, long length) {
      Map.Entry<Long, Long> before = come.floorEntry(offset);
      boolean goesOn = before != null && before.getValue() == offset;
      Long behind = come.remove(offset + length);
      come.put(goesOn ? before.getKey() : offset, behind != null ? behind : offset + length);
    }

    /** Whether nothing more comes there. */
    private boolean leaves(long address, long length) {
      if (!goesTo(address, length)) {
        return true;
      }
      long from = Math.max(address - destination.address(), 0);
      long to = Math.min(address - destination.address() + length, bytes);
      Map.Entry<Long, Long> there = come.floorEntry(from);
      return there != null && there.getValue() >= to;
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
  public void onViolation(Runnable action) {
    endSession = action;
  }

  /** Takes over one more connection; one too many is closed. */
  public void add(Transport connection) {
    int number;
    synchronized (this) {
      if (count == MOST) {
        connection.close();
        return;
      }
      number = count++;
      takeSeveral = connection.takesSeveral();
    }
    Lane.start(this, number, connection);
  }

  int count() {
    return count;
  }

  /** Whether each may have several pieces on their way at once. */
  public boolean takeSeveral() {
    return takeSeveral;
  }

  public boolean areOpen() {
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
  public void begin(long bytes, Destination destination) throws IOException {
    settle();
    while (incoming.size() == MOST_INCOMING) {
      awaitSome(() -> false);
    }
    long address = destination.address();
    boolean isSecond = address != 0 && behind(address, bytes) >= 0;
    synchronized (this) {
      long number = transfers + 1;
      incoming.add(new Incoming(number, destination, bytes, isSecond));
      transfers = number;
      notifyAll();
    }
  }

  /** Whether the executor has to settle something of what was begun. For the executor. */
  public boolean isToSettle() {
    for (Incoming transfer : incoming) {
      if (transfer.destination.address() == 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * How many bytes were begun behind the last transfer that ends up there as its pieces come; -1 if
   * none does. For the executor.
   */
  public long behind(long address, long bytes) {
    long behind = 0;
    for (Iterator<Incoming> last = incoming.descendingIterator(); last.hasNext(); ) {
      Incoming transfer = last.next();
      if (transfer.goesTo(address, bytes)) {
        return behind;
      }
      behind += transfer.bytes;
    }
    return -1;
  }

  /**
   * Waits until all that was begun is over, and settles it. For the executor, as is all of this.
   *
   * @throws IOException when a connection ends before
   */
  public void await() throws IOException {
    settle();
    while (!incoming.isEmpty()) {
      awaitSome(() -> false);
    }
  }

  /**
   * Settles what comes until there is something else to do, or no more to settle.
   *
   * @throws IOException when a connection ends before
   */
  public void attend(Other other) throws IOException {
    while (isToSettle() && !other.isThere()) {
      awaitSome(other);
    }
  }

  /** Settles what has come, the oldest transfer first. */
  private void settle() {
    Incoming first;
    while ((first = incoming.peek()) != null) {
      boolean last = first.isThere();
      first.destination.settle();
      if (!last) {
        return;
      }
      first.destination.end();
      synchronized (this) {
        incoming.remove();
      }
    }
  }

  /** Waits until something has come, or the oldest transfer is over. */
  private void awaitSome(Other other) throws IOException {
    Incoming first = incoming.peek();
    long before = bytesIn.get();
    long start = System.nanoTime();
    long waited = 0;
    while (incoming.peek() == first
        && bytesIn.get() == before
        && failure == null
        && waited < (yields ? TRANSFER_YIELD_NANOS : spinNanos)) {
      if (other.isThere()) {
        return;
      }
      settle();
      pause(waited);
      waited = System.nanoTime() - start;
    }
    settle();
    if (incoming.peek() == first && bytesIn.get() == before) {
      awaitPiece();
      settle();
    }
  }

  private synchronized void awaitPiece() throws IOException {
    asleep = true;
    try {
      Incoming first = incoming.peek();
      awaitThat(() -> first == null || first.isThere() || first.destination.isUnsettled());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted within bulk data", e);
    } finally {
      asleep = false;
    }
  }

  /** Sleeps until it is so. */
  private synchronized void awaitThat(BooleanSupplier isSo)
      throws IOException, InterruptedException {
    while (!isSo.getAsBoolean()) {
      if (failure != null) {
        throw new IOException(failure.getMessage(), failure);
      }
      wait();
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

  /** Takes a piece to where it belongs. */
  public interface Taker {
    void take(Lane lane, long address, long length) throws IOException;
  }

  /** A destination in memory. */
  public static Destination memory(long address) {
    return memory(address, Lane::take);
  }

  /** A destination in memory that is reached in a way of its own. */
  public static Destination memory(long address, Taker taker) {
    return new Destination() {
      @Override
      public void take(Lane lane, long offset, long length) throws IOException {
        taker.take(lane, address + offset, length);
      }

      @Override
      public long address() {
        return address;
      }
    };
  }

  /** A destination for what nobody wants. */
  public static Destination nowhere() {
    return (lane, offset, length) -> lane.drop(length);
  }

  /** Whether the executor has come to that transfer. */
  boolean hasBegun(long transfer) {
    return transfer <= transfers;
  }

  /**
   * The transfer that a piece belongs to; waits until the executor has come to it.
   *
   * @throws ProtocolException when it belongs to none, or does not fit
   */
  Incoming claim(long transfer, long offset, long length) throws IOException, InterruptedException {
    // Its record may be just behind it, and to be woken takes longer than a piece.
    lookFor(() -> hasBegun(transfer) || failure != null);
    return claimBegun(transfer, offset, length);
  }

  private synchronized Incoming claimBegun(long transfer, long offset, long length)
      throws IOException, InterruptedException {
    awaitThat(() -> hasBegun(transfer));
    Incoming its = find(transfer);
    if (its == null
        || length <= 0
        || offset < 0
        || offset > its.bytes - length
        || length > its.unclaimed) {
      throw new ProtocolException(
          "a piece of "
              + Long.toUnsignedString(length)
              + " bytes at "
              + Long.toUnsignedString(offset)
              + " that fits no transfer");
    }
    its.unclaimed -= length;
    return its;
  }

  private Incoming find(long number) {
    for (Incoming transfer : incoming) {
      if (transfer.number == number) {
        return transfer;
      }
    }
    return null;
  }

  /** Whether a part may be received: what was begun before has come where it goes straight to. */
  boolean mayCome(Incoming transfer, long offset, long length) {
    return !transfer.isSecond || isFree(transfer, offset, length);
  }

  private synchronized boolean isFree(Incoming transfer, long offset, long length) {
    for (Incoming before : incoming) {
      if (before == transfer) {
        return true;
      }
      if (!before.leaves(transfer.destination.address() + offset, length)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Waits until it may, for other connections.
   *
   * @throws IOException when one of them ends before
   */
  void awaitPlace(Incoming transfer, long offset, long length)
      throws IOException, InterruptedException {
    lookFor(() -> mayCome(transfer, offset, length) || failure != null);
    synchronized (this) {
      waiting++;
      try {
        awaitThat(() -> isFree(transfer, offset, length));
      } finally {
        waiting--;
      }
    }
  }

  /** A part is where it belongs. */
  void received(Incoming transfer, long offset, long length) {
    boolean all = transfer.left.addAndGet(-length) == 0;
    bytesIn.addAndGet(length);
    boolean isStraight = transfer.destination.address() != 0;
    if (all || isStraight) {
      synchronized (this) {
        transfer.comes(offset, length);
        if (all || waiting > 0) {
          notifyAll();
        }
      }
    }
  }

  /**
   * Sends in the background. The order of what is sent is not kept.
   *
   * @param whole how many bytes are sent in all of that read
   * @param sent run by a thread of ours when nothing reads the memory any more
   */
  public void send(long read, long offset, long address, long bytes, long whole, Runnable sent) {
    send(read, offset, address, bytes, whole, FROM_MEMORY, sent);
  }

  /** The same in a way of its own. */
  public void send(
      long read, long offset, long address, long bytes, long whole, Sender sender, Runnable sent) {
    int shares = takeSeveral ? count : 2 * count;
    long most = takeSeveral ? LARGEST_OF_SEVERAL : LARGEST_PIECE;
    // Behind others it need not be shared for all connections to have something to do.
    long share = toSend ? PIECE : (whole / shares + GRAIN - 1) / GRAIN * GRAIN;
    long piece = count == 1 ? bytes : Math.max(SMALLEST_PIECE, Math.min(most, share));
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
    lookFor(() -> toSend || failure != null);
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
  public void fail(IOException reason) {
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
