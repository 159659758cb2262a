package graft.remoting.server.pool;

import graft.remoting.device.Memory;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A worker that graft-starter started. It has its connection to the server from the beginning. */
final class StartedProcess implements WorkerProcess {
  private final Starter starter;
  private final ControlSocket control;
  private final InputStream log;
  private final NativeSocket workersSocket;
  private final int workersLog;
  private final CompletableFuture<Integer> end = new CompletableFuture<>();
  private volatile int number;
  private volatile int pid;

  private StartedProcess(
      Starter starter, List<NativeSocket> sockets, InputStream log, int workersLog) {
    this.starter = starter;
    this.control = new ControlSocket(sockets.get(0));
    this.workersSocket = sockets.get(1);
    this.log = log;
    this.workersLog = workersLog;
  }

  /** Makes a worker's connections, before its process is started. */
  static StartedProcess prepare(Starter starter) throws IOException {
    List<NativeSocket> sockets = NativeSocket.pair("a worker");
    try (Scratch ends = new Scratch(2 * Integer.BYTES)) {
      if (Libc.pipe2(ends.address(), Libc.O_CLOEXEC) < 0) {
        throw Libc.failure("create a pipe");
      }
      int reading = Memory.getInt(ends.address());
      int writing = Memory.getInt(ends.address() + Integer.BYTES);
      try {
        // This opens the pipe once more, as an object that Java closes.
        InputStream log = new FileInputStream("/proc/self/fd/" + reading);
        return new StartedProcess(starter, sockets, log, writing);
      } catch (IOException e) {
        Libc.close(writing);
        throw e;
      } finally {
        Libc.close(reading);
      }
    } catch (IOException e) {
      sockets.forEach(NativeSocket::close);
      throw e;
    }
  }

  /** Returns the descriptors that the worker gets. */
  List<Integer> given() {
    return List.of(workersSocket.fd(), workersLog);
  }

  /** Closes this process's copies of the descriptors that the worker got. */
  void closeGiven() {
    workersSocket.close();
    Libc.close(workersLog);
  }

  /** Closes what belongs to a process that could not be started. */
  void discard() throws IOException {
    control.close();
    log.close();
  }

  void started(int itsNumber, int itsPid) {
    number = itsNumber;
    pid = itsPid;
  }

  void ended(int status) {
    end.complete(status);
  }

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public Optional<ControlSocket> control() {
    return Optional.of(control);
  }

  @Override
  public InputStream log() {
    return log;
  }

  @Override
  public boolean isAlive() {
    return !end.isDone();
  }

  @Override
  public void share(long guest) throws IOException {
    starter.share(number, guest);
  }

  @Override
  public void kill() {
    if (isAlive()) {
      starter.end(number);
    }
  }

  @Override
  public OptionalInt awaitEnd(Duration limit) throws InterruptedException {
    try {
      return OptionalInt.of(end.get(limit.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return OptionalInt.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
