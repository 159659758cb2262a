package graft.remoting.server.pool;

import graft.remoting.server.control.ControlSocket;
import java.io.IOException;
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

  /**
   * Gives the worker the /dev/shm that the workers of a guest share, where that is possible.
   *
   * @param guest the guest's number
   * @throws IOException if it should be possible and is not, with the reason
   */
  void share(long guest) throws IOException;

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
