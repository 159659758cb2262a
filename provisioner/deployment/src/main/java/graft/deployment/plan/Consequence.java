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
  private Consequence() {}

  /**
   * The consequence for a chain.
   *
   * @param there its steps before
   * @param actions its actions
   * @return a phrase; empty for what does not exist yet and for what the actions say well
   */
  static String of(Chain chain, List<Step> there, List<Action> actions) {
    return switch (chain.phase()) {
      case GUEST ->
          there.stream().anyMatch(DefineGuest.class::isInstance) ? guest(there, actions) : "";
      case SERVER -> server(actions);
      default -> "";
    };
  }

  private static String guest(List<Step> there, List<Action> actions) {
    List<String> words = new ArrayList<>();
    boolean defined = any(actions, Action.Kind.DO, DefineGuest.class::isInstance);
    if (any(actions, Action.Kind.UNDO, DefineGuest.class::isInstance) && !defined) {
      words.add("is removed");
    } else if (any(actions, Action.Kind.UNDO, StartGuest.class::isInstance)) {
      words.add("restarts");
    } else if (any(actions, Action.Kind.DO, StartGuest.class::isInstance)) {
      words.add("is started");
    } else {
      words.add("changes in place");
    }
    List<String> disks =
        there.stream()
            .filter(CreateDisk.class::isInstance)
            .map(step -> ((CreateDisk) step).disk())
            .toList();
    List<String> deleted =
        actions.stream()
            .filter(action -> action.kind() == Action.Kind.UNDO)
            .map(Action::step)
            .filter(CreateDisk.class::isInstance)
            .map(step -> ((CreateDisk) step).disk())
            .toList();
    if (!deleted.isEmpty()) {
      words.add("deletes its data: " + String.join(", ", deleted));
    }
    boolean inPlace = words.equals(List.of("changes in place"));
    if (deleted.size() < disks.size() && !inPlace) {
      words.add(deleted.isEmpty() ? "its disks stay" : "its other disks stay");
    }
    return String.join("; ", words);
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
