package graft.remoting.server;

import java.io.IOException;

/**
 * A worker's process as the server sees it: started, then ready, then serving one session, then
 * gone.
 */
final class Worker {
  private final Process process;
  private final DeviceSpec device;
  private final long started = System.nanoTime();
  private volatile ControlSocket control;
  private volatile ServedSession session;
  private volatile String failure;

  Worker(Process process, DeviceSpec device) {
    this.process = process;
    this.device = device;
  }

  DeviceSpec device() {
    return device;
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

  ControlSocket control() {
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
            + device
            + " ended with status "
            + exitStatus
            + " before it was ready; see the log";
  }

  /** Gives it a client. Its process has a copy of the descriptor then. */
  void start(ServedSession served, ControlMessage.StartSession message, int clientFd)
      throws IOException {
    session = served;
    control.send(message, clientFd);
  }
}
