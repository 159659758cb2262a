package graft.cli.host;

import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.Question;
import graft.common.GraftException;
import graft.common.program.CurrentUser;
import graft.deployment.doctor.Doctor;
import graft.deployment.doctor.Finding;
import graft.deployment.doctor.Fixes;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.SubordinateUsers;
import graft.remoting.server.pool.WorkerStarters;
import graft.remoting.server.transport.CertificateDates;
import graft.remoting.server.transport.Tls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code graft doctor}: checks this host. */
@Prints(HostForms.Diagnosis.class)
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    header = "Checks this host and says how to fix what is missing.",
    description = {
      "",
      "Checks libvirt, the hypervisor, the client, memory, disk, and the requirements of device"
          + " passthrough. Changes nothing without --fix. Ends with 0 if guests can be run, 4 if"
          + " not; warnings do not count.",
      "",
      "With --fix it runs the commands that install a missing package of Debian or start libvirt,"
          + " after a question, and checks again. It prints each command before it runs it, and"
          + " stops at the first that fails, with exit code 1. Other fixes are left to you.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft doctor",
      "  graft doctor --fix             ask, then run the commands that it can run",
      "  graft doctor --fix --yes       run them without asking, in scripts",
      "  graft doctor --output json"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Mixin Output output;

  @Option(names = "--fix", description = "Run the commands that fix what was found.")
  boolean fix;

  @Option(
      names = {"-y", "--yes"},
      description = "With --fix: do not ask.")
  boolean yes;

  @Override
  public Integer call() throws Exception {
    List<Finding> findings = examine();
    List<List<String>> commands = Fixes.of(findings);
    if (!fix || commands.isEmpty()) {
      if (fix) {
        output.err().println("there is nothing that --fix can run");
      }
      return report(findings);
    }
    findings.forEach(this::print);
    if (!agreed(commands)) {
      throw new GraftException(
          "nothing was run: --fix asks at a terminal", "graft doctor --fix --yes runs it");
    }
    Fixes.run(
        commands,
        line -> output.err().println("run: " + line),
        Fixes.thisHost(line -> output.err().println("  " + line)));
    return report(examine());
  }

  private boolean agreed(List<List<String>> commands) throws IOException {
    if (yes) {
      return true;
    }
    if (output.isJson() || !Question.canBeAsked()) {
      return false;
    }
    output.say("--fix would run:");
    commands.forEach(command -> output.say("  " + String.join(" ", command)));
    return Question.ask(output, "Type 'yes' to run them: ").equals("yes");
  }

  private static List<Finding> examine() {
    List<Finding> findings = new ArrayList<>(new Doctor(System.getenv(), isolation()).examine());
    if (CurrentUser.isRoot()) {
      findings.add(workersUsers());
    }
    findings.add(encryption());
    findings.addAll(certificates(Path.of("/etc/pki"), Instant.now()));
    return findings;
  }

  private static String level(Finding finding) {
    return finding.level().name().toLowerCase(Locale.ROOT);
  }

  private void print(Finding finding) {
    String line = String.format(Locale.ROOT, "%-8s %-11s", level(finding), finding.subject());
    output.say(line + finding.found());
    if (!finding.fix().isEmpty()) {
      output.say(" ".repeat(20) + "fix: " + finding.fix());
    }
  }

  private int report(List<Finding> findings) {
    findings.forEach(this::print);
    List<Object> trees = new ArrayList<>();
    boolean well = true;
    for (Finding finding : findings) {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("level", level(finding));
      tree.put("subject", finding.subject());
      tree.put("found", finding.found());
      tree.put("fix", finding.fix());
      tree.put("commands", finding.commands());
      trees.add(tree);
      well &= finding.level() != Finding.Level.PROBLEM;
    }
    output.result(Map.of("ok", well, "findings", trees));
    return well ? ExitCode.OK : ExitCode.HOST;
  }

  private static Finding isolation() {
    Isolation isolation = WorkerStarters.isolationOfThisMachine();
    return isolation.missing().isEmpty()
        ? Finding.ok("isolation", isolation.describe())
        : Finding.warning("isolation", isolation.describe(), "see docs/security.md");
  }

  /** Whether a server of this host can encrypt connections from other machines. */
  private static Finding encryption() {
    return Tls.obstacle()
        .map(
            why ->
                Finding.warning(
                    "encryption",
                    "servers here refuse connections over tcp from other machines: " + why,
                    "install OpenSSL's library"))
        .orElseGet(() -> Finding.ok("encryption", "OpenSSL encrypts tcp from other machines"));
  }

  /**
   * What has to be renewed of the certificates by which machines authenticate each other; nothing
   * if this machine has none.
   */
  private static List<Finding> certificates(Path folder, Instant now) {
    boolean hasSome =
        Stream.of("servercert.pem", "clientcert.pem")
            .anyMatch(file -> Files.exists(folder.resolve("libvirt").resolve(file)));
    if (!hasSome) {
      return List.of();
    }
    List<String> warnings = CertificateDates.warnings(folder, now);
    return warnings.isEmpty()
        ? List.of(Finding.ok("nodes", "no certificate in " + folder + " ends within 30 days"))
        : warnings.stream()
            .map(line -> Finding.warning("nodes", line, "see docs/security.md"))
            .toList();
  }

  /** Whether a container of this host could have a worker's user. */
  private static Finding workersUsers() {
    JailConfig usual = JailConfig.defaults();
    String range = usual.firstUser() + "-" + usual.lastUser();
    return SubordinateUsers.overlap(Path.of("/etc"), usual)
        .map(
            line ->
                Finding.warning(
                    "users",
                    "containers may have the users of workers, " + range + ": " + line,
                    "start servers with another range: graft serve --worker-users FIRST-LAST"))
        .orElseGet(
            () ->
                Finding.ok("users", "workers' users " + range + " are in no range of /etc/subuid"));
  }
}
