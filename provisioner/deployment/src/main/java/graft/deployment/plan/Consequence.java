package graft.deployment.plan;

import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.host.HostServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** What a plan means for a guest or a server that exists: in words that an operator looks for. */
final class Consequence {
  private static final String IN_PLACE = "changes in place";
  private static final String RESTARTS = "restarts";

  private Consequence() {}

  /**
   * The consequence for a chain.
   *
   * @param there its steps before
   * @param actions its actions
   * @param obstacle why a guest cannot get its devices while it runs; empty if it can
   * @return a phrase; empty for what does not exist yet and for what the actions say well
   */
  static String of(Chain chain, List<Step> there, List<Action> actions, String obstacle) {
    return switch (chain.phase()) {
      case GUEST ->
          there.stream().anyMatch(DefineGuest.class::isInstance)
              ? guest(there, actions, obstacle)
              : "";
      case SERVER -> server(actions);
      default -> "";
    };
  }

  private static String guest(List<Step> there, List<Action> actions, String obstacle) {
    String because =
        runs(actions).equals(RESTARTS) && !obstacle.isEmpty() ? " (" + obstacle + ")" : "";
    List<String> words = new ArrayList<>(List.of(runs(actions) + because));
    List<String> deleted =
        disks(
            actions.stream().filter(a -> a.kind() == Action.Kind.UNDO).map(Action::step).toList());
    if (!deleted.isEmpty()) {
      words.add("deletes its data: " + String.join(", ", deleted));
    }
    boolean some = deleted.size() < disks(there).size();
    if (some && (!deleted.isEmpty() || !runs(actions).equals(IN_PLACE))) {
      words.add(deleted.isEmpty() ? "its disks stay" : "its other disks stay");
    }
    return String.join("; ", words);
  }

  /** What becomes of the running guest. */
  private static String runs(List<Action> actions) {
    if (any(actions, Action.Kind.UNDO, DefineGuest.class::isInstance)
        && !any(actions, Action.Kind.DO, DefineGuest.class::isInstance)) {
      return "is removed";
    }
    if (any(actions, Action.Kind.UNDO, StartGuest.class::isInstance)) {
      return RESTARTS;
    }
    return any(actions, Action.Kind.DO, StartGuest.class::isInstance) ? "is started" : IN_PLACE;
  }

  private static List<String> disks(List<Step> steps) {
    return steps.stream()
        .filter(CreateDisk.class::isInstance)
        .map(step -> ((CreateDisk) step).disk())
        .toList();
  }

  private static String server(List<Action> actions) {
    if (!any(actions, Action.Kind.UNDO, HostServer.class::isInstance)) {
      return "";
    }
    boolean again = any(actions, Action.Kind.DO, HostServer.class::isInstance);
    return (again ? "restarts" : "is removed") + "; programs that use it lose their sessions";
  }

  private static boolean any(List<Action> actions, Action.Kind kind, Predicate<Step> step) {
    return actions.stream().anyMatch(a -> a.kind() == kind && step.test(a.step()));
  }
}
