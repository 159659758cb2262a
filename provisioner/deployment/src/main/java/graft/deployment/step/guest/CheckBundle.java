package graft.deployment.step.guest;

import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs the check command of a bundle in a guest. */
public record CheckBundle(
    String uri,
    String guest,
    String uuid,
    Optional<SshLogin> ssh,
    String bundle,
    String command,
    TimeSpan timeout)
    implements GuestStep {
  @Override
  public String name() {
    return "check-" + bundle;
  }

  @Override
  public String describe() {
    return "check its bundle '" + bundle + "'";
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
  public Map<String, Object> apply(StepContext context) {
    Ended ended =
        GuestConnections.of(Domains.get(context.libvirt(uri), guest, uuid), ssh)
            .run(List.of("/bin/sh", "-c", command), new byte[0], timeout.toDuration());
    if (!ended.succeeded()) {
      throw new StepFailure(
          "the bundle '"
              + bundle
              + "' does not work in the guest '"
              + guest
              + "': '"
              + command
              + "' ended with "
              + ended.code()
              + ". "
              + ended.said(),
          "examine it with graft exec, or apply with --keep-on-failure");
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {}
}
