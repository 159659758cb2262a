package graft.deployment.step.machine;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.Guest;
import java.util.Map;

/**
 * Finds the domain again before anything is changed: it may have been deleted since the plan was
 * made. The journal knows by this step which domain a guest is.
 *
 * @param running whether it has to run, since its client is brought while it does
 */
public record FindDomain(String guest, DomainTarget target, boolean running) implements DomainStep {
  private static final String NAME = "find";

  /** The step's identity for a guest. */
  public static String id(String guest) {
    return "guest/" + guest + "/" + NAME;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String describe() {
    return "find the domain '" + target.domain() + "'" + (running ? ", which runs" : "");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return seen(snapshot).isPresent();
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public boolean needsMachine() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    Guest domain = target.get(context.libvirt(target.uri()));
    if (running && !domain.state().isActive()) {
      throw new StepFailure(
          "the domain '" + target.domain() + "' is " + domain.state().words() + " now",
          "start it, then apply again; Graft starts no domain that it did not make");
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {}
}
