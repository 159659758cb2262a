package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.transport.VchanOffer;
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

  /**
   * Has pages and an event channel of this domain made for a session of a Xen guest. Its
   * descriptors belong to the caller.
   *
   * @param domain the name of the guest's domain
   * @throws IOException if there are none, with the reason for the client
   */
  default VchanOffer grant(String domain) throws IOException {
    throw new IOException(
        "vchan needs a server that has a graft-starter: run it by graft apply, or as root");
  }

  /** Is told when the server accepts clients. */
  void serves() throws IOException;

  @Override
  void close() throws IOException;
}
