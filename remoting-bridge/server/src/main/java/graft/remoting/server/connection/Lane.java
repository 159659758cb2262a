package graft.remoting.server.connection;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection for bulk data. A thread reads its pieces, another sends; each piece follows a
 * header: u64 transfer or read, u64 offset in it, u64 length.
 *
 * <p>Where the transport has several on their way, the next piece is begun before those before it
 * are there: a wire is idle between one and the next for as long as the two ends take to agree.
 */
public final class Lane {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);
  private static final int HEADER = 24;
  private static final long STACK = 256 << 10;

  private final Lanes lanes;
  private final int number;
  private final Transport connection;
  private final ArrayDeque<Taking> taking = new ArrayDeque<>(); // oldest first
  private long lastMark;
  private long taken;

  private Lane(Lanes lanes, int number, Transport connection) {
    this.lanes = lanes;
    this.number = number;
    this.connection = connection;
  }

  /** What is on its way: when it is there, this is done. */
  private record Taking(long mark, Runnable then) {}

  /** Takes over {@code connection}. */
  static void start(Lanes lanes, int number, Transport connection) {
    Lane lane = new Lane(lanes, number, connection);
    thread(lane::receive, "graft-lane-in");
    thread(lane::send, "graft-lane-out");
  }

  private static void thread(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, STACK);
    thread.setDaemon(true);
    thread.start();
  }

  private void receive() {
    try (Scratch header = new Scratch(HEADER)) {
      boolean soon = false;
      while (readHeader(header.address(), soon)) {
        soon = true;
        long offset = Memory.getLong(header.address() + 8);
        long length = Memory.getLong(header.address() + 16);
        Lanes.Incoming transfer = claim(Memory.getLong(header.address()), offset, length);
        for (long done = 0; done < length; done += Lanes.PIECE) {
          receive(transfer, offset + done, Math.min(Lanes.PIECE, length - done));
        }
      }
      for (boolean there = true; there; ) {
        there = finishOldest(); // what had come before the end counts
      }
      lanes.fail(new IOException("the client closed a connection for bulk data"));
    } catch (ProtocolException e) {
      LOG.warn("on a connection for bulk data: {}", e.getMessage());
      lanes.endSession(e);
    } catch (IOException e) {
      lanes.fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void receive(Lanes.Incoming transfer, long offset, long length)
      throws IOException, InterruptedException {
    while (!lanes.mayCome(transfer, offset, length)) {
      if (isTaking()) {
        work();
      } else {
        lanes.awaitPlace(transfer, offset, length);
      }
    }
    taken = 0;
    transfer.destination().take(this, offset, length);
    if (taken != length) {
      throw new IllegalStateException("a part of bulk data was not read whole");
    }
    then(() -> lanes.received(transfer, offset, length));
  }

  /** Sees to what is on its way while the transfer has not begun: the executor may wait for it. */
  private Lanes.Incoming claim(long transfer, long offset, long length)
      throws IOException, InterruptedException {
    while (isTaking() && !lanes.hasBegun(transfer)) {
      work();
    }
    return lanes.claim(transfer, offset, length);
  }

  /** Reads a header, awake for a while behind a piece: the next is not far. */
  private boolean readHeader(long address, boolean soon) throws IOException {
    long count = Transport.NOTHING;
    while (isTaking() && (count = connection.tryReceive(address, HEADER)) == Transport.NOTHING) {
      work();
    }
    if (soon && count == Transport.NOTHING) {
      count = lanes.awaitNext(connection, address, HEADER);
    }
    long have = Math.max(0, count);
    while (have < HEADER && count != Transport.END) {
      count = connection.receive(address + have, HEADER - have);
      have += Math.max(0, count);
    }
    if (have > 0 && have < HEADER) {
      throw new IOException("the client closed a connection within a header");
    }
    return have == HEADER;
  }

  /** Which of the session's lanes it is, from 0. */
  public int number() {
    return number;
  }

  /** How many there are. */
  public int count() {
    return lanes.count();
  }

  /** Says that something of the piece is there for the executor. */
  public void arrived() {
    lanes.arrived();
  }

  /** Looks for a moment whether it is so. */
  public void lookFor(BooleanSupplier there) {
    lanes.lookFor(there);
  }

  /** Reads {@code length} bytes of the piece that has begun, or begins to. */
  public void take(long address, long length) throws IOException {
    lastMark = connection.take(address, length);
    taken += length;
  }

  /** The same; when they are there, and all before them, something is done. */
  public void take(long address, long length, Runnable then) throws IOException {
    take(address, length);
    then(then);
  }

  /** The same to memory of the GPU. */
  public void takeToGpu(long address, long length) throws IOException {
    lastMark = connection.takeToGpu(address, length);
    taken += length;
  }

  /** Also sees to the oldest, if it is there: to all at once would leave the wire idle. */
  private void then(Runnable action) {
    taking.add(new Taking(lastMark, action));
    finishOldest();
  }

  private boolean finishOldest() {
    boolean there = isTaking() && connection.isTaken(taking.element().mark());
    if (there) {
      taking.remove().then().run();
    }
    return there;
  }

  /** Whether something is on its way. */
  public boolean isTaking() {
    return !taking.isEmpty();
  }

  /** Sees to what is there of it; if nothing, waits until some of it is, or something new. */
  public void work() throws IOException {
    if (!finishOldest()) {
      connection.workTaking();
    }
  }

  /** Reads the rest of a piece and drops it. */
  public void drop(long length) throws IOException {
    try (Scratch waste = new Scratch(Math.min(length, 64 << 10))) {
      for (long left = length; left > 0; ) {
        long part = Math.min(left, 64 << 10);
        take(waste.address(), part);
        left -= part;
      }
      while (!connection.isTaken(lastMark)) {
        work();
      }
    }
  }

  private void send() {
    try (Scratch header = new Scratch(HEADER)) {
      while (true) {
        Lanes.Piece piece = lanes.nextPiece();
        Memory.putLong(header.address(), piece.of().read());
        Memory.putLong(header.address() + 8, piece.of().offset() + piece.at());
        Memory.putLong(header.address() + 16, piece.length());
        try {
          connection.sendAll(header.address(), HEADER, true);
          piece.of().sender().send(connection, piece.of().address() + piece.at(), piece.length());
        } finally {
          lanes.sent(piece);
        }
      }
    } catch (IOException e) {
      lanes.fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
