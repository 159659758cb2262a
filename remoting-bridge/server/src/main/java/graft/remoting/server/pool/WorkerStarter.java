package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import java.io.IOException;

/** Starts workers' processes. */
public interface WorkerStarter extends AutoCloseable {
  /** Returns the means by which the workers are confined. */
  Isolation isolation();

  /**
   * Starts a process. The calling thread must live at least as long as the process.
   *
   * @throws IOException if no process can be started, with the reason
   */
  WorkerProcess start(WorkerKind kind) throws IOException;

  /** Is told when the server accepts clients. */
  void serves() throws IOException;

  @Override
  void close() throws IOException;
}
