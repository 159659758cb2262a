package graft.remoting.server.session.state;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.call.Dispatcher;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A further connection of a session, on which the client reports that a host function has run. The
 * report cannot use the session's own stream of records, because that may be blocked by a call for
 * which the driver waits until the GPU is idle, while the GPU waits for the host function.
 */
public final class CallbackConnection {
  private static final Logger LOG = LoggerFactory.getLogger(CallbackConnection.class);
  private static final String DONE = "graftHostFunctionDone";
  private static final int RECORD = Channel.RECORD_HEADER + Long.BYTES;

  private CallbackConnection() {}

  /** Reads the connection on a thread of its own until the connection ends. */
  public static void start(Channel connection, HostFunctions functions) {
    Thread thread =
        new Thread(null, () -> read(connection, functions), "graft-connection", 256 << 10);
    thread.setDaemon(true);
    thread.start();
  }

  private static void read(Channel connection, HostFunctions functions) {
    try (connection) {
      for (long record = connection.nextRecord(); record != 0; record = connection.nextRecord()) {
        if (Memory.getInt(record) != RECORD
            || !Dispatcher.name(Memory.getShort(record + Channel.FUNCTION) & 0xFFFF).equals(DONE)) {
          throw new ProtocolException("the connection for callbacks has a record of unknown form");
        }
        functions.done(Memory.getLong(record + Channel.RECORD_HEADER));
      }
    } catch (IOException | ProtocolException e) {
      LOG.info("the connection for callbacks ended: {}", e.getMessage());
    }
  }
}
