package graft.remoting.server.pool;

import graft.remoting.server.control.ControlSocket;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** A worker that is a child of the server. */
record LocalProcess(Process process, InputStream log) implements WorkerProcess {

  @Override
  public long pid() {
    return process.pid();
  }

  @Override
  public Optional<ControlSocket> control() {
    return Optional.empty();
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Only root can give a worker another /dev/shm. */
  @Override
  public void share(long guest) {}

  @Override
  public void kill() {
    process.destroyForcibly();
  }

  @Override
  public OptionalInt awaitEnd(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)
        ? OptionalInt.of(process.exitValue())
        : OptionalInt.empty();
  }
}
