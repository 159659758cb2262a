package graft.comparison.run;

import graft.comparison.suite.Middleware;
import graft.comparison.suite.Scenario;
import graft.comparison.suite.ScenarioKind;
import graft.comparison.suite.Suite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A scenario with one hypervisor and one middleware: the unit that a site makes ready.
 *
 * @param name the name in reports: {@code shm}, {@code vm-local/kvm}, {@code tcp+rcuda}
 * @param hypervisor empty without a guest, or if the descriptor chooses
 */
public record Setting(
    String name, Scenario scenario, Optional<String> hypervisor, Middleware middleware) {

  /** The kind of the scenario. */
  public ScenarioKind kind() {
    return scenario.knownKind().orElseThrow();
  }

  /** All settings of a suite, in its order. */
  public static List<Setting> of(Suite suite) {
    List<Setting> settings = new ArrayList<>();
    for (Scenario scenario : suite.scenarios()) {
      ScenarioKind kind = scenario.knownKind().orElseThrow();
      for (Optional<String> hypervisor : hypervisors(suite, kind)) {
        for (Middleware middleware : middleware(suite, kind)) {
          String name =
              scenario.name()
                  + hypervisor.map(h -> "/" + h).orElse("")
                  + (middleware.isGraft() ? "" : "+" + middleware.name());
          settings.add(new Setting(name, scenario, hypervisor, middleware));
        }
      }
    }
    return List.copyOf(settings);
  }

  private static List<Optional<String>> hypervisors(Suite suite, ScenarioKind kind) {
    boolean chosen = kind.isGuest() && !kind.isContainer();
    if (!chosen || suite.hypervisors().isEmpty()) {
      return List.of(Optional.empty());
    }
    return suite.hypervisors().stream().map(Optional::of).toList();
  }

  private static List<Middleware> middleware(Suite suite, ScenarioKind kind) {
    boolean own = !kind.isRemoted() || suite.middleware().isEmpty();
    return own ? List.of(Middleware.GRAFT) : suite.middleware();
  }

  /** The setting with which the others are compared. */
  public static Setting baseline(Suite suite) {
    return of(suite).stream()
        .filter(setting -> setting.scenario().name().equals(suite.baseline()))
        .findFirst()
        .orElseThrow();
  }
}
