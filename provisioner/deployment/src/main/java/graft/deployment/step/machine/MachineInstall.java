package graft.deployment.step.machine;

import graft.common.values.Seconds;
import graft.common.values.TimeSpan;
import graft.deployment.observe.MachineFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.guest.BringsPayload;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestSetup;
import graft.guests.machine.Machine;
import graft.guests.payload.PayloadFile;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * Installs a payload on a machine that Graft did not make. The machine keeps what was in the files'
 * places and gets it back.
 */
public interface MachineInstall extends BringsPayload, MachineStep {
  /** Whose files these are, for the machine's own record. */
  String owner();

  /** How long the installation may take. */
  TimeSpan timeout();

  @Override
  default boolean isDone(Snapshot snapshot) {
    return Optional.ofNullable(snapshot.machines().get(guest()))
        .filter(MachineFacts::answers)
        .map(
            facts ->
                facts.current()
                    && facts.report().orElseThrow().owner().equals(Optional.of(owner())))
        .orElse(true);
  }

  @Override
  default String whyNotDone(Snapshot snapshot) {
    return "changed or deleted on the machine";
  }

  /** A new client replaces the former one; the machine's own record stays. */
  @Override
  default boolean isInPlace() {
    return true;
  }

  /** A machine that does not answer keeps nobody's access: the token is deleted here. */
  @Override
  default boolean canBeLeft() {
    return true;
  }

  @Override
  default Map<String, Object> apply(StepContext context) throws IOException {
    long start = System.nanoTime();
    GuestConnection connection = connection(context::libvirt);
    Machine machine = new Machine(connection, machine());
    machine.keep(owner(), payload().files().stream().map(PayloadFile::path).toList());
    long changed = new GuestSetup(connection, guest()).bring(payload(), timeout().toDuration());
    machine.settle(owner());
    return Map.of("changed", changed, "seconds", Seconds.since(start));
  }

  @Override
  default void undo(StepContext context, Map<String, Object> before) {
    try {
      new Machine(connection(context::libvirt), machine())
          .undo(owner())
          .forEach(left -> context.progress(this, left));
    } catch (GuestConnectionException e) {
      throw new StepFailure(
          "Graft's files on " + machine() + " could not be taken back: " + e.getMessage(),
          "try again once it answers; if the machine is gone for good: graft forget DEPLOYMENT "
              + guest(),
          e);
    }
  }
}
