package graft.remoting.server.session;

import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/** Records that a test has a session execute. */
public final class Records {
  private Records() {}

  /**
   * Executes a call.
   *
   * @param parameters the words of its parameters; 1 for a result that is wanted
   */
  public static void send(Session session, String function, boolean waits, long... parameters)
      throws IOException {
    int bytes = 16 + 8 * parameters.length;
    try (Scratch record = new Scratch(bytes)) {
      Memory.putInt(record.address(), bytes);
      Memory.putInt(record.address() + 4, Dispatcher.number(function) | (waits ? 1 << 16 : 0));
      Memory.putLong(record.address() + 8, 0);
      for (int i = 0; i < parameters.length; i++) {
        Memory.putLong(record.address() + 16 + 8L * i, parameters[i]);
      }
      session.execute(record.address());
    }
  }
}
