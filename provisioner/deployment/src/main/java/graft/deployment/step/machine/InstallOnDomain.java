package graft.deployment.step.machine;

import graft.common.values.TimeSpan;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.Guest;
import java.util.Map;
import java.util.Optional;

/** Installs a payload in a domain that somebody else made, while it runs. */
public record InstallOnDomain(
    String guest, String owner, DomainTarget target, Payload payload, TimeSpan timeout)
    implements MachineInstall, DomainStep {

  /** Another domain is another machine. */
  @Override
  public String name() {
    return "install-" + target.uuid();
  }

  @Override
  public String describe() {
    return "install in the domain '"
        + target.domain()
        + "' "
        + (target.ssh().isPresent() ? "by SSH" : "by its guest agent")
        + ": "
        + payload.summary();
  }

  /** A domain that is gone has nothing that could be taken back. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Optional<Guest> domain = target.find(context.libvirt(target.uri()));
    if (domain.isEmpty()) {
      return;
    }
    if (!domain.get().state().isActive()) {
      throw new StepFailure(
          "Graft's files in the domain '"
              + target.domain()
              + "' could not be taken back: it is "
              + domain.get().state().words(),
          "start it, then try again; if its disks are gone for good: graft forget DEPLOYMENT "
              + guest);
    }
    MachineInstall.super.undo(context, before);
  }
}
