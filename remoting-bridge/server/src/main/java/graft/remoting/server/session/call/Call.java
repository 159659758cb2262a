package graft.remoting.server.session.call;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.Destination;
import graft.remoting.server.protocol.ProtocolException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The record that a session is executing, and the reply under construction. One object serves all
 * records of a session.
 */
public final class Call {
  /** A result which says that another thread sends the reply later. */
  public static final int DEFERRED = Integer.MIN_VALUE;

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
   * Begins a call with its record. The record is copied, because the channel may overwrite it as
   * soon as the call reads bulk data or looks for the next record.
   *
   * @throws ProtocolException if the header's flags contradict each other
   */
  public void begin(long address) {
    Memory.copy(address, record, Memory.getInt(address));
    function = Memory.getShort(record + Channel.FUNCTION) & 0xFFFF;
    flags = Memory.getShort(record + Channel.FLAGS);
    failure = CudaResult.SUCCESS;
    bulkLeft = 0;
    bulkNamed = false;
    replyCursor = reply + Channel.ANSWER_HEADER;
    if (onDataConnections() && !hasBulk()) {
      throw new ProtocolException(
          Dispatcher.name(function) + " announces bulk data on data connections and has none");
    }
  }

  public int function() {
    return function;
  }

  /** Returns the slot of the client that the reply belongs to. */
  public int slot() {
    return Memory.getInt(record + 8);
  }

  /** Returns the client's number of the work that the call queues, 0 if it has none. */
  public int number() {
    return wantsReply() ? 0 : slot();
  }

  /** Returns the client's id of the context that is current to the caller, 0 for none. */
  public long contextId() {
    return Integer.toUnsignedLong(Memory.getInt(record + 12));
  }

  public boolean wantsReply() {
    return (flags & Channel.WANTS_REPLY) != 0;
  }

  boolean hasBulk() {
    return (flags & HAS_BULK) != 0;
  }

  /** Returns whether the bulk data comes on data connections. */
  public boolean onDataConnections() {
    return (flags & ON_DATA_CONNECTIONS) != 0;
  }

  /** Returns the address of the first parameter. */
  long parameters() {
    return record + Channel.RECORD_HEADER;
  }

  /** Returns the address behind the last parameter. */
  long end() {
    return record + Memory.getInt(record);
  }

  /** Notes that the call cannot be made. The first reason counts. */
  public void fail(int result) {
    if (failure == CudaResult.SUCCESS) {
      failure = result;
    }
  }

  /** Returns why the call cannot be made, or SUCCESS if it can. */
  public int failure() {
    return failure;
  }

  /**
   * Sets the length of the bulk data that follows the record. Bulk data that the call does not read
   * is dropped.
   *
   * @throws ProtocolException if the header announces other bulk data, or the length is impossible
   */
  void bulk(long bytes) {
    if (bytes < 0 || (bytes > 0) != hasBulk()) {
      throw new ProtocolException(
          Dispatcher.name(function)
              + " with "
              + Long.toUnsignedString(bytes)
              + " bytes of bulk data, "
              + (hasBulk() ? "" : "not ")
              + "which its header announces");
    }
    bulkLeft = bytes;
    bulkNamed = true;
  }

  /** Reads the next {@code bytes} bytes of the bulk data. */
  public void readBulk(long address, long bytes) {
    if (bytes > bulkLeft) {
      throw new IllegalStateException("the call reads more bulk data than was sent");
    }
    if (onDataConnections()) {
      if (bytes != bulkLeft) {
        throw new IllegalStateException(
            "bulk data on data connections can only be received as a whole");
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

  /** Receives all of the bulk data that comes on data connections. */
  void receiveBulk(Destination destination) {
    beginBulk(destination);
    awaitBulk();
  }

  /**
   * Begins to receive all of the bulk data that comes on data connections; {@link #awaitBulk} of a
   * later call waits for its end.
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

  /** Waits for the bulk data of earlier calls. */
  public void awaitBulk() {
    try {
      channel.dataConnections().incoming().await();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Completes the bulk data of earlier calls as it arrives, until another record arrives. */
  public void attendBulk() throws IOException {
    channel.dataConnections().incoming().attend(channel::hasRecord);
  }

  /** Returns whether bulk data of earlier calls still has to be copied to its destination. */
  public boolean hasBulkToSettle() {
    return channel.dataConnections().incoming().isToSettle();
  }

  /**
   * Returns the number of bytes, behind those sent last, that are received directly into that
   * memory; -1 if none are.
   */
  public long bulkBehind(long address, long bytes) {
    return channel.dataConnections().incoming().behind(address, bytes);
  }

  /** Returns whether several chunks are in flight on each data connection at once. */
  public boolean hasSeveralAtOnce() {
    return channel.dataConnections().receiveSeveral();
  }

  /** Drops the rest of the bulk data, so that the next record is found behind it. */
  public void dropBulk() throws IOException {
    if (hasBulk() && !bulkNamed) {
      throw new ProtocolException(
          "bulk data follows " + Dispatcher.name(function) + ", which takes none");
    }
    if (bulkLeft > 0 && onDataConnections()) {
      receiveBulk(Destination.nowhere());
    } else if (bulkLeft > 0) {
      channel.skipBulk(bulkLeft);
      bulkLeft = 0;
    }
  }

  /**
   * Returns zeroed memory for a result in the reply, padded to 8 bytes.
   *
   * @throws ProtocolException if the reply would be too large
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

  /** Drops the results in the reply. */
  public void clearResults() {
    replyCursor = reply + Channel.ANSWER_HEADER;
  }

  /** Sends the reply with its results. */
  public void reply(int result) throws IOException {
    int size = (int) (replyCursor - reply);
    header(reply, size, 0, slot(), result);
    channel.send(reply, size);
  }

  /** Writes the header of a reply. */
  public static void header(long address, int size, int kind, int slot, int result) {
    Memory.putInt(address, size);
    Memory.putInt(address + 4, kind);
    Memory.putInt(address + 8, slot);
    Memory.putInt(address + 12, result);
  }
}
