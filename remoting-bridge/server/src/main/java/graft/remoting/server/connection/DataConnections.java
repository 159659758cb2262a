package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.function.BooleanSupplier;

/**
 * A session's data connections. There are several because one TCP stream carries less than a GPU
 * can take. Data is divided into chunks, and each chunk uses whichever connection is free: {@link
 * IncomingData} receives from the client, {@link OutgoingData} sends to it. Thread-safe.
 */
public final class DataConnections {
  /** The bytes that are copied to or from the device at once. */
  public static final int CHUNK = 1 << 20;

  /** Reads of at least this many bytes are sent on data connections. */
  public static final int LEAST = 512 << 10;

  /** The largest number of data connections of a session. */
  public static final int MOST = 16;

  private static final int SMALLEST_CHUNK = 128 << 10;
  private static final int LARGEST_CHUNK = 512 << 10;

  /** The size of a chunk if it is sent as several messages that are in flight at once. */
  private static final int LARGEST_OF_SEVERAL = 8 << 20;

  private static final int GRAIN = 64 << 10;

  private final Polling polling;
  private final IncomingData incoming;
  private final OutgoingData outgoing;

  /** The number of connections; written while this lock is held. */
  private volatile int count;

  /**
   * Whether each connection can have several receives in progress; written while this lock is held.
   */
  private volatile boolean receiveSeveral;

  @GuardedBy("this")
  private Runnable endSession = () -> {};

  /**
   * Creates the data connections of one session.
   *
   * @param spinNanos how long to poll before sleeping
   */
  public DataConnections(long spinNanos) {
    this.polling = new Polling(spinNanos);
    this.incoming = new IncomingData(polling);
    this.outgoing = new OutgoingData(polling);
  }

  /**
   * Sets the action that ends the session when its client violates the protocol on a data
   * connection.
   */
  public synchronized void onViolation(Runnable action) {
    endSession = action;
  }

  /** Adds a connection. If there are too many already, it is closed. */
  public void add(Transport transport) {
    int number;
    synchronized (this) {
      if (count == MOST) {
        transport.close();
        return;
      }
      number = count;
      count = number + 1;
      receiveSeveral = transport.receivesSeveral();
    }
    DataConnection.start(this, number, transport);
  }

  int count() {
    return count;
  }

  /** Returns whether each connection can have several receives in progress at once. */
  public boolean receiveSeveral() {
    return receiveSeveral;
  }

  /** Returns whether data can be sent on data connections. */
  public boolean areOpen() {
    return count > 0 && !incoming.hasFailed();
  }

  public long bytesIn() {
    return incoming.bytes();
  }

  public long bytesOut() {
    return outgoing.bytes();
  }

  /** Returns the bulk data from the client. */
  public IncomingData incoming() {
    return incoming;
  }

  OutgoingData outgoing() {
    return outgoing;
  }

  Polling polling() {
    return polling;
  }

  /**
   * Polls for a moment, on behalf of a thread that will send the data whose arrival it polls for.
   */
  public void poll(BooleanSupplier there) {
    polling.poll(there);
  }

  /**
   * Sends memory of this process in the background. Data may be sent in any order.
   *
   * @param read the client's number for the read
   * @param offset the offset of the data in the read
   * @param whole the bytes of the whole read
   * @param sent run by a connection's thread when the memory may be reused
   */
  public void send(long read, long offset, long address, long bytes, long whole, Runnable sent) {
    send(read, offset, address, bytes, whole, Sender.FROM_MEMORY, sent);
  }

  /** As above, sending by {@code sender}. */
  public void send(
      long read, long offset, long address, long bytes, long whole, Sender sender, Runnable sent) {
    long chunk = count == 1 ? bytes : chunk(whole);
    outgoing.send(new OutgoingData.Block(read, offset, address, bytes, chunk, sender, sent));
  }

  private long chunk(long whole) {
    int shares = receiveSeveral ? count : 2 * count;
    long most = receiveSeveral ? LARGEST_OF_SEVERAL : LARGEST_CHUNK;
    // If other data is queued already, all connections are busy and the data need not be divided
    // further.
    long share = outgoing.hasWork() ? CHUNK : (whole / shares + GRAIN - 1) / GRAIN * GRAIN;
    return Math.max(SMALLEST_CHUNK, Math.min(most, share));
  }

  /**
   * Closes all connections, because one of them has failed and the others are of no use without it.
   */
  public void fail(IOException reason) {
    incoming.fail(reason);
    outgoing.fail(reason);
  }

  /** Ends the session, because the client violated the protocol. */
  void endSession(ProtocolException reason) {
    fail(new IOException(reason.getMessage(), reason));
    Runnable end;
    synchronized (this) {
      end = endSession;
    }
    end.run();
  }
}
