package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.WorkerJail;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A worker's process as the server sees it: starting, then ready, then serving one session, then
 * ended.
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

  /**
   * Returns whether the caller has to release the worker's cell; true for the first caller only.
   */
  boolean leaves() {
    return hasLeft.compareAndSet(false, true);
  }

  /** Returns the cell of the jail that confines the process. */
  WorkerJail.Cell cell() {
    return cell;
  }

  long pid() {
    return process.pid();
  }

  Process process() {
    return process;
  }

  /** Waits for the process to end, kills it after the limit, and returns its exit status. */
  int awaitExit(Duration limit) {
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
      return process.waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      return -1;
    }
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

  /** Returns the session that the worker serves, null before it serves one. */
  ServedSession session() {
    return session;
  }

  void failed(String reason) {
    failure = reason;
  }

  /** Returns why the worker ended before it was ready. */
  String failure(int exitStatus) {
    return failure != null
        ? failure
        : "the worker for device "
            + kind
            + " ended with status "
            + exitStatus
            + " before it was ready; see the log";
  }

  /** Hands a client to the worker, whose process then has its own copies of the descriptors. */
  public void start(ServedSession served, ControlMessage.StartSession message, List<Integer> fds)
      throws IOException {
    session = served;
    control.sendAtOnce(message, fds);
  }
}
