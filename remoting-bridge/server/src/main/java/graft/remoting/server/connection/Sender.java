package graft.remoting.server.connection;

import graft.remoting.server.transport.Transport;
import java.io.IOException;

/** Sends memory of this process or of a GPU. */
public interface Sender {
  /** Sends memory of this process. */
  Sender FROM_MEMORY = (connection, address, length) -> connection.sendAll(address, length, false);

  /** Sends all bytes, after their header has been sent. */
  void send(Transport connection, long address, long length) throws IOException;
}
