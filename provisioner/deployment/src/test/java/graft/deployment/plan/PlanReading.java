package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.deployment.step.guest.BringsPayload;
import graft.guests.payload.Payload;
import java.util.List;

/** What tests read in plans. */
final class PlanReading {
  private PlanReading() {}

  /** Why a host does not fit a descriptor. */
  static List<String> problems(FakeHost host, String descriptor) {
    UnfitHostException e =
        catchThrowableOfType(UnfitHostException.class, () -> host.plan(descriptor));
    assertThat(e).as("problems").isNotNull();
    return e.problems().stream().map(Problem::toString).toList();
  }

  /** The client's configuration that the first guest gets. */
  static String configuration(Plan plan) {
    return plan.actions().stream()
        .map(Action::step)
        .filter(BringsPayload.class::isInstance)
        .flatMap(step -> ((BringsPayload) step).payload().files().stream())
        .filter(file -> file.path().equals(Payload.CLIENT_CONFIGURATION))
        .flatMap(file -> file.text().stream())
        .findFirst()
        .orElseThrow();
  }

  /** The actions on the guest "box": their kinds, and the names of their steps. */
  static List<String> words(Plan plan) {
    return plan.actions().stream()
        .filter(action -> action.step().chain().name().equals("box"))
        .map(action -> action.kind() + " " + action.step().name())
        .toList();
  }
}
