package graft.remoting.server.connection;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Region;
import java.io.IOException;

/**
 * What carries a session: an ordered stream of records from the client and one of replies back.
 * Sockets implement it ({@link StreamChannel}); shared memory, vsock or RDMA can join without
 * touching the rest.
 *
 * <p>One thread, the session's executor, calls {@link #nextRecord}, {@link #hasRecord}, {@link
 * #readBulk} and {@link #skipBulk}. Any thread may send.
 */
public interface Channel extends AutoCloseable {
  /** Bytes of a record's header: u32 size, u16 function, u16 flags, u32 slot, u32 context. */
  int RECORD_HEADER = 16;

  /** Bytes of an answer's header: u32 size, u16 kind, u16 reserved, u32 slot, i32 result. */
  int ANSWER_HEADER = 16;

  /** The largest record, header included. */
  int MAX_RECORD = 1 << 20;

  /**
   * The address of the next record, complete in native memory and valid until the next call on this
   * channel that reads; 0 when the client has closed. Waits for it, polling briefly first.
   *
   * @throws ProtocolException when the size is not a multiple of 8 from 16 to {@link #MAX_RECORD},
   *     or the stream ends within a record
   */
  long nextRecord() throws IOException;

  /**
   * Whether the client has sent more that {@link #nextRecord} or {@link #readBulk} would get
   * without waiting.
   */
  boolean hasRecord() throws IOException;

  /**
   * Reads the next {@code length} bytes of bulk data to {@code address}.
   *
   * @throws ProtocolException when the stream ends before
   */
  void readBulk(long address, long length) throws IOException;

  /** Reads {@code length} bytes of bulk data and drops them, as a call that was refused has to. */
  void skipBulk(long length) throws IOException;

  /**
   * The executor's buffer for building an answer, of {@link #replyCapacity} bytes. Other threads
   * bring their own. Nothing in it outlives the next answer.
   */
  long replyBuffer();

  /** Bytes at {@link #replyBuffer}. */
  int replyCapacity();

  /** Sends {@code length} bytes at {@code address}: one answer or more, complete. */
  void send(long address, long length) throws IOException;

  /** Sends a header and the bulk data after it, with nothing of another thread between. */
  void sendBulk(long header, long headerLength, long address, long length) throws IOException;

  /** Bytes read from the client so far. */
  long bytesIn();

  /** Bytes sent to the client so far. */
  long bytesOut();

  /** The client's further connections for bulk data. */
  DataConnections dataConnections();

  /** The memory that this channel's client shares, null if it has none. */
  default Region region() {
    return null;
  }

  @Override
  void close();
}
