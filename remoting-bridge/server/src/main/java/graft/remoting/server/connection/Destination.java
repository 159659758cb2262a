package graft.remoting.server.connection;

import java.io.IOException;

/** Where the chunks of a transfer from the client are received. */
public interface Destination {
  /** Receives a whole chunk from {@code connection}. Several threads call this at once. */
  void receive(DataConnection connection, long offset, long length) throws IOException;

  /**
   * Returns the memory that chunks are received into directly; 0 if they are received elsewhere
   * first.
   */
  default long address() {
    return 0;
  }

  /**
   * Processes the data that has been received. The executor calls this repeatedly until the whole
   * transfer has arrived and all earlier transfers are complete. A connection calls {@link
   * DataConnection#arrived} when there is something to process.
   */
  default void settle() {}

  /** Returns whether data has been received that {@link #settle} has not processed. */
  default boolean isUnsettled() {
    return false;
  }

  /** Called when the whole transfer has arrived and been processed. */
  default void end() {}

  /** Receives a chunk into its place in memory. */
  interface Receiver {
    void receive(DataConnection connection, long address, long length) throws IOException;
  }

  /** Returns a destination in memory of this process. */
  static Destination memory(long address) {
    return memory(address, DataConnection::receive);
  }

  /** Returns a destination in memory that {@code receiver} can access. */
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

  /** Returns a destination that drops the data. */
  static Destination nowhere() {
    return (connection, offset, length) -> connection.drop(length);
  }
}
