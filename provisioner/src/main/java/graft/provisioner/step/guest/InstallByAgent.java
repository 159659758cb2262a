package graft.provisioner.step.guest;

import graft.hypervisors.libvirt.Guest;
import graft.provisioner.reach.AgentReach;
import graft.provisioner.reach.GuestSetup;
import graft.provisioner.setup.Payload;
import graft.provisioner.step.StepContext;
import graft.provisioner.values.TimeSpan;
import java.io.IOException;
import java.util.Map;

/** Brings a guest's payload in by its agent, while it runs. */
public record InstallByAgent(
    String uri, String guest, String uuid, Payload payload, TimeSpan timeout) implements Install {
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
    Attempt attempt = () -> new GuestSetup(reach, guest).bring(payload, timeout.toDuration());
    return Install.result(bring(context, domain, reach, timeout, attempt), start);
  }
}
