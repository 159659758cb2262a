package graft.cli.host;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.program.CurrentUser;
import graft.deployment.doctor.Doctor;
import graft.deployment.doctor.Finding;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.SubordinateUsers;
import graft.remoting.server.pool.WorkerStarters;
import graft.remoting.server.transport.CertificateDates;
import graft.remoting.server.transport.Tls;
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

/** {@code graft doctor}: checks this host. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    header = "Checks this host and says how to fix what is missing.",
    description = {
      "",
      "Checks libvirt, the hypervisor, the client, memory, disk, and the requirements of device"
          + " passthrough. Changes nothing. Ends with 0 if guests can be run, 4 if not; warnings do"
          + " not count.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft doctor", "  graft doctor --output json"})
public final class DoctorCommand implements Callable<Integer> {
  @Mixin Output output;

  @Override
  public Integer call() {
    List<Finding> findings = new ArrayList<>(new Doctor(System.getenv(), isolation()).examine());
    if (CurrentUser.isRoot()) {
      findings.add(workersUsers());
    }
    findings.add(encryption());
    findings.addAll(certificates(Path.of("/etc/pki"), Instant.now()));
    List<Object> trees = new ArrayList<>();
    boolean well = true;
    for (Finding finding : findings) {
      String level = finding.level().name().toLowerCase(Locale.ROOT);
      String line = String.format(Locale.ROOT, "%-8s %-11s", level, finding.subject());
      output.say(line + finding.found());
      if (!finding.fix().isEmpty()) {
        output.say(" ".repeat(20) + "fix: " + finding.fix());
      }
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("level", level);
      tree.put("subject", finding.subject());
      tree.put("found", finding.found());
      tree.put("fix", finding.fix());
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
