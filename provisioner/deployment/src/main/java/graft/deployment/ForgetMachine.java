package graft.deployment;

import graft.common.GraftException;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.apply.Undoer;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.machine.MachineStep;
import graft.guests.payload.Payload;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Forgets a machine that existed before the deployment, without asking it. */
public final class ForgetMachine {
  /**
   * A machine that was forgotten.
   *
   * @param machine the machine, for display
   * @param revoked whether it had a token of this deployment's, which is worthless now
   * @param hasTokenOfNode whether it has a token for a GPU of a node, which is the node's
   */
  public record Forgotten(String machine, boolean revoked, boolean hasTokenOfNode) {}

  private final StateFolder state;
  private final DeploymentProgress progress;

  public ForgetMachine(StateFolder state, DeploymentProgress progress) {
    this.state = state;
    this.progress = progress;
  }

  /**
   * Undoes what was done for the machine on this host, its access above all, and notes that nothing
   * is left to be taken back on the machine, which is not asked.
   *
   * @throws GraftException if the guest is not such a machine, or its access could not be undone
   */
  public Forgotten forget(String guest) throws Exception {
    return DeploymentLock.holding(state, () -> locked(guest));
  }

  private Forgotten locked(String guest) throws Exception {
    try (Connections connections = new Connections();
        Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      AppliedGuest applied = AppliedGuest.of(journal.state(), guest);
      MachineStep machine =
          applied
              .machine()
              .orElseThrow(
                  () ->
                      new GraftException(
                          "the guest '" + guest + "' was made by Graft",
                          "remove it from the descriptor, then graft apply removes it"));
      journal.note("forget " + guest);
      List<Step> rest = new ArrayList<>();
      for (Step step : applied.steps()) {
        if (step instanceof MachineStep there && there.needsMachine()) {
          journal.undoing(step);
          journal.undone(step);
        } else {
          rest.add(step);
        }
      }
      Collections.reverse(rest);
      List<String> errors =
          new Undoer(journal, new LiveContext(connections, journal, progress), progress).undo(rest);
      if (!errors.isEmpty()) {
        throw new GraftException(
            "the access of '" + guest + "' could not be undone: " + String.join("; ", errors),
            "graft destroy " + state.deployment() + " tries again");
      }
      return new Forgotten(
          machine.machine(),
          rest.stream().anyMatch(MakeToken.class::isInstance),
          hasTokenOfNode(applied));
    }
  }

  /** The tokens that this host has made lie in the state folder. */
  private boolean hasTokenOfNode(AppliedGuest guest) {
    return guest.steps().stream()
        .filter(BringsPayload.class::isInstance)
        .flatMap(step -> ((BringsPayload) step).payload().files().stream())
        .filter(file -> file.path().startsWith(Payload.TOKEN))
        .flatMap(file -> file.secret().stream())
        .anyMatch(token -> !token.startsWith(state.path()));
  }
}
