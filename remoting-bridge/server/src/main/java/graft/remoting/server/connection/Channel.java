package graft.remoting.server.connection;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Region;
import java.io.IOException;

/**
 * Carries a session: an ordered stream of records from the client, and a stream of replies back.
 * {@link StreamChannel} implements it on any transport.
 *
 * <p>Only the session's executor calls {@link #nextRecord}, {@link #hasRecord}, {@link #readBulk}
 * and {@link #skipBulk}. Any thread may send.
 */
public interface Channel extends AutoCloseable {
  /** The offset of the function in a record. */
  int FUNCTION = 4;

  /** The offset of the flags in a record. */
  int FLAGS = 6;

  /** The flag of a record for whose reply the client waits. */
  int WANTS_REPLY = 1;

  /** The bytes of a record's header: u32 size, u16 function, u16 flags, u32 slot, u32 context. */
  int RECORD_HEADER = 16;

  /** The bytes of a reply's header: u32 size, u16 kind, u16 reserved, u32 slot, i32 result. */
  int ANSWER_HEADER = 16;

  /** The largest record, with its header. */
  int MAX_RECORD = 1 << 20;

  /**
   * Waits for the next record, polling for a moment first, and returns its address, or 0 if the
   * client has closed the connection. The record is complete in native memory and valid until the
   * next call that reads from this channel.
   *
   * @throws ProtocolException if the size is not a multiple of 8 from 16 to {@link #MAX_RECORD}, or
   *     the stream ends within a record
   */
  long nextRecord() throws IOException;

  /**
   * Returns whether the client has sent more data, so that {@link #nextRecord} or {@link #readBulk}
   * would not wait.
   */
  boolean hasRecord() throws IOException;

  /**
   * Reads the next {@code length} bytes of bulk data to {@code address}.
   *
   * @throws ProtocolException if the stream ends earlier
   */
  void readBulk(long address, long length) throws IOException;

  /** Reads {@code length} bytes of bulk data and drops them, after a call that was refused. */
  void skipBulk(long length) throws IOException;

  /**
   * Returns the executor's buffer for building a reply, of {@link #replyCapacity} bytes. Other
   * threads use their own. The contents are valid until the next reply.
   */
  long replyBuffer();

  /** Returns the size of {@link #replyBuffer}. */
  int replyCapacity();

  /** Sends {@code length} bytes at {@code address}, which are one or more complete replies. */
  void send(long address, long length) throws IOException;

  /**
   * Sends a header and the bulk data that follows it, without data of another thread between them.
   */
  void sendBulk(long header, long headerLength, long address, long length) throws IOException;

  /** Sets what {@link #nextRecord} does before it sleeps, on the executor's thread. */
  default void whenIdle(Runnable task) {}

  /** Returns the bytes received from the client so far. */
  long bytesIn();

  /** Returns the bytes sent to the client so far. */
  long bytesOut();

  /** Returns the client's data connections. */
  DataConnections dataConnections();

  /** Returns the memory that the client shares, null if it shares none. */
  default Region region() {
    return null;
  }

  @Override
  void close();
}
