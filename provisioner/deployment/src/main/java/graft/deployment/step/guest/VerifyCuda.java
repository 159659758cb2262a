package graft.deployment.step.guest;

import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.CudaCheck;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs a small CUDA program in a guest and records what it reports about its device.
 *
 * @param ssh the SSH login; if absent, the agent is used
 * @param patient whether the server may still be starting, in a guest that is set up in parallel
 */
public record VerifyCuda(
    String uri,
    String guest,
    String uuid,
    Optional<SshLogin> ssh,
    boolean patient,
    TimeSpan timeout)
    implements GuestStep {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  @Override
  public String name() {
    return "verify";
  }

  @Override
  public String describe() {
    return "run a CUDA program in it" + (patient ? ", once its server answers" : "");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true;
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    GuestConnection connection =
        GuestConnections.of(Domains.get(context.libvirt(uri), guest, uuid), ssh);
    List<CudaCheck> last = new ArrayList<>(); // of the attempts
    Await.Outcome outcome =
        new Await(timeout.toDuration(), PAUSE)
            .until(
                () -> {
                  last.add(CudaCheck.run(connection, false, timeout.toDuration()));
                  boolean well = last.get(last.size() - 1).isWell();
                  Await.Answer bad = patient ? Await.Answer.NOT_YET : Await.Answer.NEVER;
                  return well ? Await.Answer.YES : bad;
                },
                seconds -> context.progress(this, "waiting for its server, " + seconds + " s"),
                context::isStopping);
    CudaCheck check = last.get(last.size() - 1);
    if (outcome != Await.Outcome.READY) {
      throw new StepFailure(
          "the CUDA program in the guest '"
              + guest
              + "' failed: "
              + check.said().replace("\n", "\n    "),
          "is the server there? graft status says");
    }
    Map<String, Object> result = new LinkedHashMap<>(check.values());
    result.put("seconds", check.seconds());
    return result;
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {}
}
