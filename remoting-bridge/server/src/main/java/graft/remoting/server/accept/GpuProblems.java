package graft.remoting.server.accept;

import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.pool.ServerAudit;
import graft.remoting.server.pool.WorkerPool;
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

  @Override
  public void accept(String uuid, String problem) {
    audit.gpuProblem(uuid, problem);
    pool.serving(session -> health.problem(session.device()).isPresent())
        .forEach(worker -> worker.endSessionSoon(reason(uuid + ": " + problem)));
  }

  /** Why a session ends. */
  static String reason(String problem) {
    return "the GPU has a problem: " + problem;
  }
}
