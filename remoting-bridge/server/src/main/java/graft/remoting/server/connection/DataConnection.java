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
 * One data connection. One thread receives its chunks, another sends. Each chunk follows a header:
 * u64 number of the transfer or read, u64 offset in it, u64 length.
 *
 * <p>If the transport can have several receives in progress, the next chunk is begun before the
 * earlier ones have arrived. Otherwise the wire would be idle between two chunks for as long as the
 * two ends take to negotiate the next one.
 */
public final class DataConnection {
  private static final Logger LOG = LoggerFactory.getLogger(DataConnection.class);
  private static final int HEADER = 24;
  private static final long STACK = 256 << 10;

  private final DataConnections all;
  private final IncomingData incoming;
  private final int number;
  private final Transport transport;

  // Only the receiving thread uses these.
  private final ArrayDeque<Receiving> receiving = new ArrayDeque<>(); // oldest first
  private long lastMark;
  private long received;

  private DataConnection(DataConnections all, int number, Transport transport) {
    this.all = all;
    this.incoming = all.incoming();
    this.number = number;
    this.transport = transport;
  }

  /** Data that is being received; {@code then} is run when it has arrived. */
  private record Receiving(long mark, Runnable then) {}

  /** Starts a data connection, which takes over {@code transport}. */
  static void start(DataConnections all, int number, Transport transport) {
    DataConnection connection = new DataConnection(all, number, transport);
    thread(connection::receiveAll, "graft-data-in");
    thread(connection::sendAll, "graft-data-out");
  }

  private static void thread(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, STACK);
    thread.setDaemon(true);
    thread.start();
  }

  private void receiveAll() {
    try (Scratch header = new Scratch(HEADER)) {
      boolean isBehindChunk = false;
      while (readHeader(header.address(), isBehindChunk)) {
        isBehindChunk = true;
        long offset = Memory.getLong(header.address() + 8);
        long length = Memory.getLong(header.address() + 16);
        Transfer transfer = claim(Memory.getLong(header.address()), offset, length);
        for (long done = 0; done < length; done += DataConnections.CHUNK) {
          receive(transfer, offset + done, Math.min(DataConnections.CHUNK, length - done));
        }
      }
      for (boolean there = true; there; ) {
        there = finishOldest(); // what arrived before the end of the stream counts
      }
      all.fail(new IOException("the client closed a data connection"));
    } catch (ProtocolException e) {
      LOG.warn("on a data connection: {}", e.getMessage());
      all.endSession(e);
    } catch (IOException e) {
      all.fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void receive(Transfer transfer, long offset, long length)
      throws IOException, InterruptedException {
    while (!incoming.mayReceive(transfer, offset, length)) {
      if (isReceiving()) {
        work();
      } else {
        incoming.awaitTurn(transfer, offset, length);
      }
    }
    received = 0;
    transfer.destination().receive(this, offset, length);
    if (received != length) {
      throw new IllegalStateException("a chunk of bulk data was not read completely");
    }
    then(() -> incoming.received(transfer, offset, length));
  }

  /**
   * Finds the transfer of a chunk. Receiving goes on while the transfer has not begun, because the
   * executor may be waiting for that data.
   */
  private Transfer claim(long transfer, long offset, long length)
      throws IOException, InterruptedException {
    while (isReceiving() && !incoming.hasBegun(transfer)) {
      work();
    }
    return incoming.claim(transfer, offset, length);
  }

  /**
   * Reads a header. After a chunk it polls for a while, since the next chunk usually follows soon.
   */
  private boolean readHeader(long address, boolean isBehindChunk) throws IOException {
    long[] count = {Transport.NOTHING};
    while (isReceiving()
        && (count[0] = transport.tryReceive(address, HEADER)) == Transport.NOTHING) {
      work();
    }
    if (isBehindChunk && count[0] == Transport.NOTHING) {
      all.polling()
          .pollBehindChunk(
              () -> (count[0] = transport.tryReceive(address, HEADER)) != Transport.NOTHING);
    }
    long have = Math.max(0, count[0]);
    while (have < HEADER && count[0] != Transport.END) {
      count[0] = transport.receive(address + have, HEADER - have);
      have += Math.max(0, count[0]);
    }
    if (have > 0 && have < HEADER) {
      throw new IOException("the client closed a data connection in the middle of a header");
    }
    return have == HEADER;
  }

  /** Returns the number of this connection among the session's data connections, from 0. */
  public int number() {
    return number;
  }

  /** Returns the number of data connections of the session. */
  public int count() {
    return all.count();
  }

  /** Reports that data of the chunk is ready for the executor. */
  public void arrived() {
    incoming.arrived();
  }

  /** Polls for a moment, until {@code there} returns true. */
  public void poll(BooleanSupplier there) {
    all.poll(there);
  }

  /**
   * Begins to receive {@code length} bytes of the chunk. The bytes may already have arrived on
   * return.
   */
  public void receive(long address, long length) throws IOException {
    lastMark = transport.beginReceive(address, length);
    received += length;
  }

  /** As above; {@code then} is run when these bytes and all before them have arrived. */
  public void receive(long address, long length, Runnable then) throws IOException {
    receive(address, length);
    then(then);
  }

  /** Begins to receive into memory of the GPU. */
  public void receiveToGpu(long address, long length) throws IOException {
    lastMark = transport.beginReceiveToGpu(address, length);
    received += length;
  }

  /**
   * Queues an action for the arrival of the data received so far. Also finishes the oldest receive
   * if it has arrived: finishing all of them at once would leave the wire idle.
   */
  private void then(Runnable action) {
    receiving.add(new Receiving(lastMark, action));
    finishOldest();
  }

  private boolean finishOldest() {
    boolean there = isReceiving() && transport.hasReceived(receiving.element().mark());
    if (there) {
      receiving.remove().then().run();
    }
    return there;
  }

  /** Returns whether a receive is in progress. */
  public boolean isReceiving() {
    return !receiving.isEmpty();
  }

  /**
   * Finishes the receives that have arrived. If none has, waits until one arrives or new data
   * comes.
   */
  public void work() throws IOException {
    if (!finishOldest()) {
      transport.progress();
    }
  }

  /** Reads the rest of a chunk and drops it. */
  public void drop(long length) throws IOException {
    try (Scratch waste = new Scratch(Math.min(length, 64 << 10))) {
      for (long left = length; left > 0; ) {
        long part = Math.min(left, 64 << 10);
        receive(waste.address(), part);
        left -= part;
      }
      while (!transport.hasReceived(lastMark)) {
        work();
      }
    }
  }

  private void sendAll() {
    OutgoingData outgoing = all.outgoing();
    try (Scratch header = new Scratch(HEADER)) {
      while (true) {
        OutgoingData.Chunk chunk = outgoing.next();
        Memory.putLong(header.address(), chunk.read());
        Memory.putLong(header.address() + 8, chunk.offset());
        Memory.putLong(header.address() + 16, chunk.length());
        try {
          transport.sendAll(header.address(), HEADER, true);
          chunk.sender().send(transport, chunk.address(), chunk.length());
        } finally {
          outgoing.sent(chunk);
        }
      }
    } catch (IOException e) {
      all.fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
