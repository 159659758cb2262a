package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The thread that starts workers' processes and lives as long as the pool: the kernel kills a
 * worker when the thread that started it ends (PR_SET_PDEATHSIG), so that no worker outlives the
 * server.
 */
final class StartThread implements AutoCloseable {
  private final WorkerStarter processes;

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          work -> {
            Thread made = new Thread(work, "graft-worker-start");
            made.setDaemon(true);
            return made;
          });

  StartThread(WorkerStarter processes) {
    this.processes = processes;
  }

  /** Starts a process. */
  WorkerProcess start(WorkerKind kind) throws IOException {
    try {
      return thread.submit(() -> processes.start(kind)).get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause
          ? cause
          : new IOException(e.getCause().toString(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** See {@link WorkerStarter#grant}; any thread may wait for it. */
  VchanOffer grant(String domain) throws IOException {
    return processes.grant(domain);
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
