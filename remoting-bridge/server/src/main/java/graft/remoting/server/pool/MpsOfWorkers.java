package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.mps.MpsDaemon;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control daemon of NVIDIA's MPS, of which all workers of a pool are clients. */
public final class MpsOfWorkers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MpsOfWorkers.class);

  /** How long programs may take to see a fault as the result of their own calls. */
  private static final Duration FAULT_TOLD = Duration.ofSeconds(1);

  private final WorkerStarter processes;
  private final WorkerPool pool;
  private final Consumer<Throwable> lost;
  private volatile WorkerProcess process;
  private volatile boolean closing;

  /**
   * A daemon that has not been started.
   *
   * @param lost is called if it ends, which ends the work of all sessions
   */
  public MpsOfWorkers(WorkerStarter processes, WorkerPool pool, Consumer<Throwable> lost) {
    this.processes = processes;
    this.pool = pool;
    this.lost = lost;
  }

  /**
   * Starts the daemon. The calling thread must live at least as long as the server.
   *
   * @throws ServerException if it does not listen, with what it said
   */
  public void start() throws ServerException {
    try {
      process = processes.start(WorkerKind.MPS);
    } catch (IOException e) {
      throw new ServerException("cannot start NVIDIA's MPS: " + e.getMessage(), e);
    }
    MpsDaemon daemon = MpsDaemon.follow(process.log(), this::faulted, this::ended);
    if (!daemon.awaitStart()) {
      throw new ServerException(jailFailure().orElseGet(daemon::failure));
    }
  }

  /** Returns why the daemon's jail could not be made, if it is that. */
  private Optional<String> jailFailure() {
    if (process.isAlive() || process.control().isEmpty()) {
      return Optional.empty();
    }
    try {
      ControlSocket.Received received = process.control().get().receive();
      return received != null && received.message() instanceof ControlMessage.Failed failed
          ? Optional.of("NVIDIA's MPS: " + failed.reason())
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private void ended(String said) {
    if (!closing) {
      lost.accept(new IOException("NVIDIA's MPS has ended: " + said));
    }
  }

  private void faulted() {
    List<Worker> serving = pool.endAfterFault();
    if (serving.isEmpty()) {
      return; // or a worker could make threads by writing into the daemon's log
    }
    LOG.warn("a program's fault on the GPU has ended the work of all sessions, as MPS has it");
    Thread end = new Thread(null, () -> endSessions(serving), "graft-mps-fault", 128 * 1024);
    end.setDaemon(true);
    end.start();
  }

  private static void endSessions(List<Worker> serving) {
    LockSupport.parkNanos(FAULT_TOLD.toNanos());
    for (Worker worker : serving) {
      worker.endSessionSoon(
          "a fault of a program on the GPU has ended the work of all dense guests");
    }
  }

  /** Ends the daemon, after its clients. */
  @Override
  public void close() {
    closing = true;
    if (process != null) {
      process.kill();
      process.control().ifPresent(ControlSocket::close);
    }
  }
}
