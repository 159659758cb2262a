package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.WorkerJail;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A worker's process as the server sees it: started, then ready, then serving one session, then
 * gone.
 */
public final class Worker {
  private final Process process;
  private final WorkerJail.Cell cell;
  private final WorkerKind kind;
  private final long started = System.nanoTime();
  private final AtomicBoolean hasLeft = new AtomicBoolean();
  private volatile ControlSocket control;
  private volatile ServedSession session;
  private volatile String failure;

  Worker(WorkerCommand.Started started, WorkerKind kind) {
    this.process = started.process();
    this.cell = started.cell();
    this.kind = kind;
  }

  WorkerKind kind() {
    return kind;
  }

  /** Whether its place has to be given back now; true once. */
  boolean leaves() {
    return hasLeft.compareAndSet(false, true);
  }

  /** Where it is confined. */
  WorkerJail.Cell cell() {
    return cell;
  }

  long pid() {
    return process.pid();
  }

  Process process() {
    return process;
  }

  long ageNanos() {
    return System.nanoTime() - started;
  }

  public ControlSocket control() {
    return control;
  }

  void connected(ControlSocket socket) {
    control = socket;
  }

  /** The session that it serves, null before. */
  ServedSession session() {
    return session;
  }

  void failed(String reason) {
    failure = reason;
  }

  /** Why it was of no use, for one that went before it was ready. */
  String failure(int exitStatus) {
    return failure != null
        ? failure
        : "the worker for device "
            + kind
            + " ended with status "
            + exitStatus
            + " before it was ready; see the log";
  }

  /** Gives it a client. Its process has copies of the descriptors then. */
  public void start(ServedSession served, ControlMessage.StartSession message, List<Integer> fds)
      throws IOException {
    session = served;
    control.sendAtOnce(message, fds);
  }
}
