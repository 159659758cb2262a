package graft.deployment.step.guest;

import graft.deployment.observe.Snapshot;
import graft.deployment.state.SubordinateIds;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.util.Map;

/**
 * Registers the users and groups of the host that a container has, so that nobody else gets them.
 *
 * @param owner the name in the lists, which is no user of the host
 */
public record RegisterUsers(String guest, String owner, Boot.IdRange ids) implements GuestStep {
  @Override
  public String name() {
    return "users";
  }

  @Override
  public String describe() {
    return "register the users "
        + ids.first()
        + " to "
        + (ids.first() + ids.count() - 1)
        + " of the host for it, in /etc/subuid and /etc/subgid";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.containers().registered().contains(SubordinateIds.line(owner, ids));
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    try {
      SubordinateIds.ofHost().register(owner, ids);
    } catch (SubordinateIds.TakenException e) {
      throw new StepFailure(
          e.getMessage(),
          "apply again: Graft then chooses others, if the container has no root folder yet",
          e);
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    SubordinateIds.ofHost().remove(owner, ids);
  }
}
