package graft.deployment.step.device;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.sriov.operation.DeviceChange;
import graft.sriov.plan.VfPlanner;
import java.util.Map;

/** A step that is one change of a device of the host: its place in the plan is all that it adds. */
public interface DeviceStep extends Step {
  DeviceChange change();

  @Override
  default boolean isDone(Snapshot snapshot) {
    return new VfPlanner(snapshot.devices().host()).isDone(change());
  }

  @Override
  default Map<String, Object> before(StepContext context) throws Exception {
    return change().before(context.host());
  }

  @Override
  default Map<String, Object> apply(StepContext context) throws Exception {
    return change().apply(context.host());
  }

  @Override
  default void undo(StepContext context, Map<String, Object> before) throws Exception {
    if (!before.isEmpty()) {
      change().undo(context.host(), before);
    }
  }
}
