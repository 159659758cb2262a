package graft.deployment.step.machine;

import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.CudaCheck;
import java.util.LinkedHashMap;
import java.util.Map;

/** Runs a CUDA program on a machine that Graft did not make. */
interface MachineCheck extends MachineStep {
  /** The server's addresses, for the message if the program fails. */
  String server();

  /** How long the program may run. */
  TimeSpan timeout();

  @Override
  default String name() {
    return "verify";
  }

  @Override
  default String describe() {
    return "run a CUDA program on it";
  }

  @Override
  default boolean isDone(Snapshot snapshot) {
    return true;
  }

  @Override
  default boolean leavesSomething() {
    return false;
  }

  @Override
  default Map<String, Object> apply(StepContext context) {
    CudaCheck check = CudaCheck.run(connection(context::libvirt), false, timeout().toDuration());
    if (!check.isWell()) {
      throw new StepFailure(
          "the CUDA program on " + machine() + " failed: " + check.said().replace("\n", "\n    "),
          "does the machine reach the server at "
              + server()
              + "? A firewall may be between them; existing: {server: ADDRESS} names another"
              + " address");
    }
    Map<String, Object> result = new LinkedHashMap<>(check.values());
    result.put("seconds", check.seconds());
    return result;
  }

  @Override
  default void undo(StepContext context, Map<String, Object> before) {}
}
