package graft.remoting.server.connection;

import graft.remoting.server.transport.Transport;
import java.io.IOException;

/** Sends memory: that of this process, or that of a GPU. */
public interface Sender {
  /** Sends memory of this process. */
  Sender FROM_MEMORY = (connection, address, length) -> connection.sendAll(address, length, false);

  /** Sends all of it, behind its header. */
  void send(Transport connection, long address, long length) throws IOException;
}
