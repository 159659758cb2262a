package graft.remoting.server.session.call;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.protocol.ProtocolException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The record that a session executes now, and the reply under construction. One object, used again
 * for each record.
 */
public final class Call {
  /** A result that says: the reply comes later, from another thread. */
  public static final int DEFERRED = Integer.MIN_VALUE;

  private static final int WANTS_REPLY = 1;
  private static final int HAS_BULK = 2;
  private static final int ON_DATA_CONNECTIONS = 4;

  private final Channel channel;
  private final long reply;
  private final long replyEnd;
  private final long record = Memory.allocate(Channel.MAX_RECORD);
  private int function;
  private int flags;
  private int failure;
  private long replyCursor;
  private long bulkLeft;
  private boolean bulkNamed;

  public Call(Channel channel) {
    this.channel = channel;
    this.reply = channel.replyBuffer();
    this.replyEnd = reply + channel.replyCapacity();
  }

  /**
   * Begins with a record. It is copied: the channel may use its place again as soon as the call
   * reads bulk data or looks whether more has come.
   */
  public void begin(long address) {
    Memory.copy(address, record, Memory.getInt(address));
    function = Memory.getShort(record + 4) & 0xFFFF;
    flags = Memory.getShort(record + 6);
    failure = CudaResult.SUCCESS;
    bulkLeft = 0;
    bulkNamed = false;
    replyCursor = reply + Channel.ANSWER_HEADER;
  }

  public int function() {
    return function;
  }

  /** What the reply carries, so that the client knows which call it answers. */
  public int slot() {
    return Memory.getInt(record + 8);
  }

  /** The client's id of the context that is current to the caller, 0 for none. */
  public long contextId() {
    return Integer.toUnsignedLong(Memory.getInt(record + 12));
  }

  public boolean wantsReply() {
    return (flags & WANTS_REPLY) != 0;
  }

  boolean hasBulk() {
    return (flags & HAS_BULK) != 0;
  }

  /** Whether the bulk data comes on further connections. */
  public boolean onDataConnections() {
    return (flags & ON_DATA_CONNECTIONS) != 0;
  }

  /** Address of the first parameter. */
  long parameters() {
    return record + Channel.RECORD_HEADER;
  }

  /** Address behind the last parameter. */
  long end() {
    return record + Memory.getInt(record);
  }

  /** Notes that the call cannot be made; the first reason counts. */
  public void fail(int result) {
    if (failure == CudaResult.SUCCESS) {
      failure = result;
    }
  }

  /** Why the call cannot be made, SUCCESS if it can. */
  public int failure() {
    return failure;
  }

  /**
   * Names the length of the bulk data that follows the record; whatever the call leaves of it is
   * dropped.
   *
   * @throws ProtocolException when the client announced none, or a length that cannot be
   */
  public void bulk(long bytes) {
    if (bytes < 0 || (bytes > 0) != hasBulk()) {
      throw new ProtocolException(
          Dispatcher.name(function)
              + " with "
              + Long.toUnsignedString(bytes)
              + " bytes of bulk data, "
              + (hasBulk() ? "" : "not ")
              + "announced in its header");
    }
    bulkLeft = bytes;
    bulkNamed = true;
  }

  /** Reads the next {@code bytes} of the bulk data. */
  public void readBulk(long address, long bytes) {
    if (bytes > bulkLeft) {
      throw new IllegalStateException("the server reads more bulk data than there is");
    }
    if (onDataConnections()) {
      if (bytes != bulkLeft) {
        throw new IllegalStateException("bulk data on connections is received as a whole");
      }
      receiveBulk(Destination.memory(address));
      return;
    }
    bulkLeft -= bytes;
    try {
      channel.readBulk(address, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Receives all of the bulk data that comes on connections. */
  void receiveBulk(Destination destination) {
    beginBulk(destination);
    awaitBulk();
  }

  /**
   * Begins to receive all of the bulk data that comes on connections; {@link #awaitBulk} of a later
   * call waits for it.
   */
  public void beginBulk(Destination destination) {
    long bytes = bulkLeft;
    bulkLeft = 0;
    try {
      channel.dataConnections().incoming().begin(bytes, destination);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the bulk data of the calls before. */
  public void awaitBulk() {
    try {
      channel.dataConnections().incoming().await();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Settles the bulk data of the calls before as it comes, until there is another record. */
  public void attendBulk() throws IOException {
    channel.dataConnections().incoming().attend(channel::hasRecord);
  }

  /** Whether bulk data of the calls before is not where it belongs until it is settled. */
  public boolean hasBulkToSettle() {
    return channel.dataConnections().incoming().isToSettle();
  }

  /** How many bytes come behind the last that go straight to that memory; -1 if none do. */
  public long bulkBehind(long address, long bytes) {
    return channel.dataConnections().incoming().behind(address, bytes);
  }

  /** Whether each connection for bulk data has several chunks on their way at once. */
  public boolean hasSeveralAtOnce() {
    return channel.dataConnections().receiveSeveral();
  }

  /** Drops what is left of the bulk data, so that the stream stays in step. */
  public void dropBulk() throws IOException {
    if (hasBulk() && !bulkNamed) {
      throw new ProtocolException(
          "bulk data behind " + Dispatcher.name(function) + ", which takes none");
    }
    if (onDataConnections() && !hasBulk()) {
      throw new ProtocolException(Dispatcher.name(function) + " with no bulk data on connections");
    }
    if (bulkLeft > 0 && onDataConnections()) {
      receiveBulk(Destination.nowhere());
    } else if (bulkLeft > 0) {
      channel.skipBulk(bulkLeft);
      bulkLeft = 0;
    }
  }

  /**
   * Zeroed room for a result in the reply, padded to 8 bytes.
   *
   * @throws ProtocolException when the reply would be too large
   */
  long result(long bytes) {
    if (bytes < 0 || bytes > replyEnd - replyCursor) {
      throw new ProtocolException(
          Dispatcher.name(function)
              + " asks for "
              + Long.toUnsignedString(bytes)
              + " bytes of results");
    }
    long address = replyCursor;
    long padded = bytes + 7 & ~7L;
    Memory.fill(address, padded, (byte) 0);
    replyCursor += padded;
    return address;
  }

  /** Drops the results that were laid out. */
  public void clearResults() {
    replyCursor = reply + Channel.ANSWER_HEADER;
  }

  /** Sends the reply with the results that were laid out. */
  public void reply(int result) throws IOException {
    int size = (int) (replyCursor - reply);
    header(reply, size, 0, slot(), result);
    channel.send(reply, size);
  }

  /** Writes the header of an answer. */
  public static void header(long address, int size, int kind, int slot, int result) {
    Memory.putInt(address, size);
    Memory.putInt(address + 4, kind);
    Memory.putInt(address + 8, slot);
    Memory.putInt(address + 12, result);
  }
}
