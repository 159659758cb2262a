package graft.provisioner.step.device;

import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.sriov.operation.Operation;
import graft.sriov.operation.Undo;
import java.util.Map;

/** A step that is one operation on a device of the host. */
interface OperationStep extends Step {
  Operation operation();

  @Override
  default Map<String, Object> before(StepContext context) {
    return Recorded.write(operation().before(context.host()));
  }

  @Override
  default Map<String, Object> apply(StepContext context) throws Exception {
    operation().apply(context.host());
    return Map.of();
  }

  @Override
  default void undo(StepContext context) throws Exception {
    Recorded.read(context.beforeOf(id())).ifPresent(before -> Undo.run(context.host(), before));
  }
}
