package graft.provisioner.step.guest;

import graft.hypervisors.libvirt.Guest;
import graft.provisioner.reach.AgentReach;
import graft.provisioner.reach.GuestSetup;
import graft.provisioner.reach.ReachException;
import graft.provisioner.setup.Payload;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StoppedException;
import graft.provisioner.values.TimeSpan;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/** Brings a guest's payload in by its agent, while it runs. */
public record InstallByAgent(
    String uri, String guest, String uuid, Payload payload, TimeSpan timeout) implements Install {
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration PING = Duration.ofSeconds(2);

  @Override
  public String way() {
    return "in by its agent";
  }

  /** A guest that reboots meanwhile is waited for, and set up from the start again. */
  @Override
  public Map<String, Object> apply(StepContext context) throws IOException, InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    AgentReach reach = new AgentReach(domain);
    long start = System.nanoTime();
    long deadline = start + timeout.toDuration().toNanos();
    while (true) {
      try {
        return Install.result(
            new GuestSetup(reach, guest).bring(payload, timeout.toDuration()), start);
      } catch (ReachException e) {
        if (!e.isAway() || System.nanoTime() > deadline || !domain.state().isActive()) {
          throw e;
        }
        context.progress(this, "its agent went away; waiting for it");
      }
      while (!reach.answers(PING) && System.nanoTime() < deadline) {
        if (context.isStopping()) {
          throw new StoppedException();
        }
        Thread.sleep(PAUSE.toMillis());
      }
    }
  }
}
