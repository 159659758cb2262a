package graft.remoting.server.session;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.state.DeviceOutput;
import java.io.IOException;

/** Executes a session's records, one after another on one thread. */
public interface RecordHandler {
  /**
   * Executes a record, reads the bulk data that it announces and sends the reply that it wants, or
   * sees to it that it is sent later.
   *
   * @param record its address, valid during the call
   * @throws ProtocolException when the record is not what its function takes: the session ends
   */
  void execute(long record) throws IOException;

  /** One more connection of this session, for the purpose that the client gave it. */
  void addConnection(int connection, Channel channel);

  /** Bytes of device memory that the session has now. Any thread. */
  long memory();

  /** Has what kernels print sent ahead of the replies. */
  default void sendAlong(DeviceOutput output) {}
}
