package graft.remoting.server.session;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.state.DeviceOutput;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.util.function.Consumer;

/** Executes the records of one session in order, on one thread. */
public interface RecordHandler {
  /**
   * Executes a record, reads the bulk data that the record announces, and sends its reply or
   * arranges for the reply to be sent later.
   *
   * @param record the address of the record, valid during the call
   * @throws ProtocolException if the record does not match its function, which ends the session
   */
  void execute(long record) throws IOException;

  /** Adds a further connection to this session, for the purpose that the client named. */
  void addConnection(int connection, Channel channel);

  /**
   * Prepares for a connection of another server under the client's number of a link.
   *
   * @return what takes the connection over; null if the session may have no further link
   */
  default Consumer<NativeSocket> link(int number) {
    return null;
  }

  /**
   * Returns the bytes of device memory that the session has allocated. Any thread may call this.
   */
  long memory();

  /** Returns the most bytes that {@link #memory} has been. Any thread may call this. */
  default long peakMemory() {
    return memory();
  }

  /**
   * Waits until the device has finished the session's work. Any thread may call this that has no
   * context of its own.
   */
  default void finishWork() {}

  /** Arranges that the output of kernels' printf is sent ahead of the replies. */
  default void sendAlong(DeviceOutput output) {}
}
