package graft.remoting.server.pool;

import graft.remoting.server.control.ControlSocket;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** The process of a worker. */
public interface WorkerProcess {
  long pid();

  /**
   * Returns the server's end of the connection to the worker; empty if the worker connects to the
   * server's private socket.
   */
  Optional<ControlSocket> control();

  /** Returns what the worker writes to standard error, until its end. */
  InputStream log();

  boolean isAlive();

  /** Kills the process; has no effect on a process that has ended. */
  void kill();

  /**
   * Waits for the end of the process.
   *
   * @return its exit status (128 and the signal's number, if a signal ended it); empty after the
   *     limit
   */
  OptionalInt awaitEnd(Duration limit) throws InterruptedException;
}
