package graft.remoting.server.connection;

import java.io.IOException;

/** Where the chunks of a transfer from the client go. */
public interface Destination {
  /** Receives all of a chunk from {@code connection}. Several threads call this at once. */
  void receive(DataConnection connection, long offset, long length) throws IOException;

  /** The memory to which the chunks go directly as they arrive; 0 if they go elsewhere or later. */
  default long address() {
    return 0;
  }

  /**
   * Processes what has been received. The executor calls this again and again until all of the
   * transfer has arrived and the transfers before it are over. A connection calls {@link
   * DataConnection#arrived} when there is something to process.
   */
  default void settle() {}

  /** Whether something has been received that {@link #settle} has not processed. */
  default boolean isUnsettled() {
    return false;
  }

  /** All of the transfer has arrived and been settled. */
  default void end() {}

  /** Receives a chunk to its place in memory. */
  interface Receiver {
    void receive(DataConnection connection, long address, long length) throws IOException;
  }

  /** A destination in memory of this process. */
  static Destination memory(long address) {
    return memory(address, DataConnection::receive);
  }

  /** A destination in memory that {@code receiver} reaches. */
  static Destination memory(long address, Receiver receiver) {
    return new Destination() {
      @Override
      public void receive(DataConnection connection, long offset, long length) throws IOException {
        receiver.receive(connection, address + offset, length);
      }

      @Override
      public long address() {
        return address;
      }
    };
  }

  /** A destination for data that nobody wants. */
  static Destination nowhere() {
    return (connection, offset, length) -> connection.drop(length);
  }
}
