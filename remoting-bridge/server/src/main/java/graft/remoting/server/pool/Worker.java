package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker's process as the server sees it: starting, then ready, then serving one session, then
 * ended.
 */
public final class Worker {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  /** How long a worker may take to tell its client that the session ends. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(3);

  private final WorkerProcess process;
  private final WorkerKind kind;
  private final GuestNumbers guests;
  private final long started = System.nanoTime();
  private volatile ControlSocket control;
  private volatile ServedSession session;
  private volatile String failure;
  private volatile String uuid = "";

  Worker(WorkerProcess process, WorkerKind kind, GuestNumbers guests) {
    this.process = process;
    this.kind = kind;
    this.guests = guests;
    this.control = process.control().orElse(null);
  }

  WorkerKind kind() {
    return kind;
  }

  long pid() {
    return process.pid();
  }

  WorkerProcess process() {
    return process;
  }

  /** Waits for the process to end, kills it after the limit, and returns its exit status. */
  int awaitExit(Duration limit) {
    try {
      OptionalInt status = process.awaitEnd(limit);
      while (status.isEmpty()) {
        process.kill();
        status = process.awaitEnd(limit);
      }
      return status.getAsInt();
    } catch (InterruptedException e) {
      process.kill();
      Thread.currentThread().interrupt();
      return -1;
    }
  }

  /** Waits for the end of a worker whose connection is to end it; without one it is killed. */
  void awaitClose(Duration limit) {
    if (control() == null) {
      process.kill();
    }
    awaitExit(limit);
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
  public ServedSession session() {
    return session;
  }

  /** Returns the secret of the session that the worker serves. */
  public Bytes secret() {
    return session.secret();
  }

  /** Notes the GPU that the worker has, as NVML names it; empty if it sees several. */
  void uuid(String value) {
    uuid = value;
  }

  /** Returns the GPU that the worker has, as NVML names it; empty if it sees several. */
  public String uuid() {
    return uuid;
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
    share(served);
    session = served;
    control.sendAtOnce(message, fds);
  }

  /**
   * Ends the session. The worker tells the client why, and is killed if it has not ended after a
   * few seconds. Returns when the process has ended.
   */
  public void endSession(String reason) {
    session.endsBecause(reason);
    try {
      control.sendAtOnce(new ControlMessage.EndSession(reason), List.of());
    } catch (IOException e) {
      LOG.debug("worker {} is not told to end its session: {}", pid(), e.getMessage());
      process.kill();
    }
    awaitExit(LAST_WORDS);
  }

  /** Ends the session on a thread of its own, because the worker may take a while to end. */
  public void endSessionSoon(String reason) {
    Thread end = new Thread(null, () -> endSession(reason), "graft-end-session", 128 * 1024);
    end.setDaemon(true);
    end.start();
  }

  /** Without the folder only a part of CUDA does not work, so that the session begins anyway. */
  private void share(ServedSession served) {
    try {
      process.share(guests.begin(served.name()));
    } catch (IOException e) {
      LOG.warn(
          "{}: this session cannot share CUDA events with others of its guest: {}",
          served.name(),
          e.getMessage());
    }
  }
}
