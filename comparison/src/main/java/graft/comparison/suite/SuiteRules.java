package graft.comparison.suite;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Rules for suites beyond their syntax. The check reports all violations at once. */
public final class SuiteRules {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
  private static final Set<String> HYPERVISORS =
      Set.of("auto", "kvm", "qemu", "xen", "lxc", "esxi");

  private final Suite suite;
  private final List<Fault> faults = new ArrayList<>();

  private SuiteRules(Suite suite) {
    this.suite = suite;
  }

  /** All errors of the suite; none if it can be run. */
  public static List<Fault> check(Suite suite) {
    SuiteRules rules = new SuiteRules(suite);
    rules.whole();
    suite.scenarios().forEach(rules::scenario);
    suite.workloads().forEach(rules::workload);
    suite.middleware().forEach(rules::middleware);
    return List.copyOf(rules.faults);
  }

  private void whole() {
    if (suite.compare() != 1) {
      fault(suite, "compare", "this is version " + suite.compare() + " of the form", "write 1");
    }
    atLeast(suite, "repetitions", suite.repetitions(), 1);
    atLeast(suite, "warm-ups", suite.warmUps(), 0);
    if (suite.scenarios().isEmpty()) {
      fault(suite, "scenarios", "there is no scenario", "for example - {name: native}");
    }
    if (suite.workloads().isEmpty()) {
      fault(suite, "workloads", "there is no workload", "for example - {name: bandwidth}");
    }
    names("scenario", suite.scenarios().stream().map(Scenario::name).toList());
    names("workload", suite.workloads().stream().map(Workload::name).toList());
    names("middleware", suite.middleware().stream().map(Middleware::name).toList());
    List<String> scenarios = suite.scenarios().stream().map(Scenario::name).toList();
    if (!scenarios.contains(suite.baseline())) {
      fault(
          suite,
          "baseline",
          "'" + suite.baseline() + "' is none of the scenarios",
          "there are: " + String.join(", ", scenarios));
    }
    for (int i = 0; i < suite.hypervisors().size(); i++) {
      if (!HYPERVISORS.contains(suite.hypervisors().get(i))) {
        fault(
            suite,
            "hypervisors[" + i + "]",
            "'" + suite.hypervisors().get(i) + "' is no hypervisor",
            "write auto, kvm, qemu, xen, lxc or esxi");
      }
    }
  }

  private void names(String kind, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!NAME.matcher(name).matches()) {
        fault(suite, "", "'" + name + "' cannot name a " + kind, "letters, digits, . _ -");
      }
      if (!seen.add(name)) {
        fault(suite, "", "two are called " + kind + " '" + name + "'", "give one another name");
      }
    }
  }

  private void scenario(Scenario scenario) {
    Optional<ScenarioKind> kind = scenario.knownKind();
    if (kind.isEmpty()) {
      fault(scenario, "name", "'" + scenario.name() + "' names no kind", "add kind: vm-local, say");
      return;
    }
    if (kind.get().isGuest() != scenario.descriptor().isPresent()) {
      String needs = kind.get().isGuest() ? "needs a descriptor" : "takes no descriptor";
      fault(scenario, "descriptor", Words.of(kind.get()) + " " + needs, "");
    }
    if (kind.get().isOtherNode()
        && (scenario.server().isEmpty() || scenario.tokenFile().isEmpty())) {
      fault(
          scenario,
          "server",
          Words.of(kind.get()) + " needs a server and a token",
          "add server: tcp://HOST:PORT, client: NAME and token-file: FILE");
    }
    if (!kind.get().isOtherNode() && !scenario.furtherNodes().isEmpty()) {
      fault(scenario, "further-nodes", Words.of(kind.get()) + " takes no further nodes", "");
    }
  }

  private void workload(Workload workload) {
    Optional<WorkloadKind> kind = workload.knownKind();
    if (kind.isEmpty()) {
      fault(workload, "name", "'" + workload.name() + "' names no kind", "add kind: exec, say");
      return;
    }
    if ((kind.get() == WorkloadKind.EXEC) == workload.program().isEmpty()) {
      fault(
          workload,
          "program",
          kind.get() == WorkloadKind.EXEC ? "exec needs a program" : "only exec takes a program",
          "");
    }
    for (OwnFigure figure : workload.figures()) {
      pattern(figure);
    }
    check(workload, kind.get());
    workload.shares().stream()
        .filter(share -> share < 1 || share > 99)
        .forEach(share -> fault(workload, "shares", share + " is no share", "1 to 99 per cent"));
    workload.copies().stream()
        .filter(copies -> copies < 1 || copies > 64)
        .forEach(copies -> fault(workload, "copies", copies + " copies", "1 to 64"));
    atLeast(workload, "timeout-seconds", workload.timeoutSeconds(), 1);
  }

  private void check(Workload workload, WorkloadKind kind) {
    if (workload.check().isPresent() && kind != WorkloadKind.EXEC) {
      fault(workload, "check", "only exec takes a check", "the other programs check their results");
      return;
    }
    try {
      workload.check().ifPresent(Pattern::compile);
    } catch (PatternSyntaxException e) {
      fault(workload, "check", "no regular expression: " + e.getDescription(), "");
    }
  }

  private void pattern(OwnFigure figure) {
    try {
      if (Pattern.compile(figure.pattern()).matcher("").groupCount() < 1) {
        fault(figure, "pattern", "the pattern has no group", "put the number into ( and )");
      }
    } catch (PatternSyntaxException e) {
      fault(figure, "pattern", "no regular expression: " + e.getDescription(), "");
    }
  }

  private void middleware(Middleware middleware) {
    for (String setting : middleware.environment()) {
      if (!setting.matches("[A-Za-z_][A-Za-z0-9_]*=.*")) {
        fault(middleware, "environment", "'" + setting + "' is not NAME=VALUE", "");
      }
    }
    if (!middleware.isGraft() && middleware.library().isEmpty()) {
      fault(middleware, "library", "where are the libraries of '" + middleware.name() + "'?", "");
    }
  }

  private void atLeast(Object part, String key, Optional<Integer> value, int least) {
    if (value.isPresent() && value.get() < least) {
      fault(part, key, "'" + key + "' is " + value.get(), "at least " + least);
    }
  }

  private void fault(Object part, String key, String message, String hint) {
    faults.add(new Fault(part, key, message, hint));
  }
}
