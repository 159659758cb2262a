package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.function.BooleanSupplier;

/**
 * A session's further connections for bulk data, since one TCP stream carries less than a GPU
 * takes. Data goes in chunks on whichever connection is free: {@link IncomingData} from the client,
 * {@link OutgoingData} to it. Thread-safe.
 */
public final class DataConnections {
  /** How much is copied to the device or from it at once. */
  public static final int CHUNK = 1 << 20;

  /** Reads of at least so many bytes are sent on data connections. */
  public static final int LEAST = 512 << 10;

  /** How many data connections a session may have. */
  public static final int MOST = 16;

  private static final int SMALLEST_CHUNK = 128 << 10;
  private static final int LARGEST_CHUNK = 512 << 10;

  /** Where a chunk goes as several messages that are on their way at once. */
  private static final int LARGEST_OF_SEVERAL = 8 << 20;

  private static final int GRAIN = 64 << 10;

  private final Polling polling;
  private final IncomingData incoming;
  private final OutgoingData outgoing;

  /** How many there are; written under this lock. */
  private volatile int count;

  /** Whether each may receive several chunks at once; written under this lock. */
  private volatile boolean receiveSeveral;

  @GuardedBy("this")
  private Runnable endSession = () -> {};

  /** Those of one session, which polls for that time before it sleeps. */
  public DataConnections(long spinNanos) {
    this.polling = new Polling(spinNanos);
    this.incoming = new IncomingData(polling);
    this.outgoing = new OutgoingData(polling);
  }

  /** Sets what ends the session when its client breaks the protocol here. */
  public synchronized void onViolation(Runnable action) {
    endSession = action;
  }

  /** Takes over one more connection; one too many is closed. */
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

  /** Whether each connection may have several chunks on their way to the server at once. */
  public boolean receiveSeveral() {
    return receiveSeveral;
  }

  /** Whether data may be sent on them. */
  public boolean areOpen() {
    return count > 0 && !incoming.hasFailed();
  }

  public long bytesIn() {
    return incoming.bytes();
  }

  public long bytesOut() {
    return outgoing.bytes();
  }

  /** Bulk data from the client. */
  public IncomingData incoming() {
    return incoming;
  }

  OutgoingData outgoing() {
    return outgoing;
  }

  Polling polling() {
    return polling;
  }

  /** Polls for a moment, for a thread that is about to send what comes then. */
  public void poll(BooleanSupplier there) {
    polling.poll(there);
  }

  /**
   * Sends memory of this process in the background. The order of what is sent is not kept.
   *
   * @param read what the client knows the read by
   * @param offset where in the read the data belongs
   * @param whole how many bytes of that read are sent in all
   * @param sent run by a connection's thread when nothing reads the memory any more
   */
  public void send(long read, long offset, long address, long bytes, long whole, Runnable sent) {
    send(read, offset, address, bytes, whole, Sender.FROM_MEMORY, sent);
  }

  /** As above, with a sender of its own. */
  public void send(
      long read, long offset, long address, long bytes, long whole, Sender sender, Runnable sent) {
    long chunk = count == 1 ? bytes : chunk(whole);
    outgoing.send(new OutgoingData.Block(read, offset, address, bytes, chunk, sender, sent));
  }

  private long chunk(long whole) {
    int shares = receiveSeveral ? count : 2 * count;
    long most = receiveSeveral ? LARGEST_OF_SEVERAL : LARGEST_CHUNK;
    // Behind other data it need not be shared for all connections to have something to send.
    long share = outgoing.hasWork() ? CHUNK : (whole / shares + GRAIN - 1) / GRAIN * GRAIN;
    return Math.max(SMALLEST_CHUNK, Math.min(most, share));
  }

  /** One connection has failed: none is of use without the others. */
  public void fail(IOException reason) {
    incoming.fail(reason);
    outgoing.fail(reason);
  }

  /** The client broke the protocol: the session ends. */
  void endSession(ProtocolException reason) {
    fail(new IOException(reason.getMessage(), reason));
    Runnable end;
    synchronized (this) {
      end = endSession;
    }
    end.run();
  }
}
