package graft.remoting.server.accept;

import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.pool.ServerAudit;
import graft.remoting.server.pool.Worker;
import graft.remoting.server.pool.WorkerPool;
import java.util.List;
import java.util.function.BiConsumer;

/** Ends the sessions of a GPU that cannot be used any more, with the reason. */
public final class GpuProblems implements BiConsumer<String, String> {
  private final WorkerPool pool;
  private final GpuHealth health;
  private final ServerAudit audit;

  /** Ends sessions of this pool. */
  public GpuProblems(WorkerPool pool, GpuHealth health, ServerAudit audit) {
    this.pool = pool;
    this.health = health;
    this.audit = audit;
  }

  /**
   * Returns at once: each session ends on a thread of its own, because its worker may take a while.
   */
  @Override
  public void accept(String uuid, String problem) {
    audit.gpuProblem(uuid, problem);
    List<Worker> workers = pool.serving(session -> health.problem(session.device()).isPresent());
    for (Worker worker : workers) {
      Runnable end = () -> worker.endSession("the GPU has a problem: " + uuid + ": " + problem);
      Thread thread = new Thread(null, end, "graft-gpu-problem", 128 * 1024);
      thread.setDaemon(true);
      thread.start();
    }
  }
}
