package graft.deployment.step.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.values.Endpoint;
import graft.deployment.InstalledGraft;
import graft.deployment.descriptor.gpu.PortName;
import graft.guests.bundle.ServerUnit;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The units that run a server, as systemd itself judges them. */
@Timeout(120)
class ServerUnitsTest {
  /** The exposure that a server may have at most, in tenths. */
  private static final String SERVER = "30";

  /** The starter holds the privileges; this keeps its unit from becoming wider. */
  private static final String STARTER = "60";

  private static final Path ANALYZE = Path.of("/usr/bin/systemd-analyze");

  @TempDir Path folder;
  @RegisterExtension final InstalledGraft installed = new InstalledGraft();

  @BeforeEach
  void install() throws Exception {
    installed.in(folder);
  }

  private static RunServer server(String device, String... ports) {
    return new RunServer(
        "gpu0",
        List.of(Endpoint.parse("tcp://127.0.0.1:7799")),
        device,
        Optional.empty(),
        1,
        List.of(ports).stream().map(PortName::new).toList(),
        "lab.gpu0",
        true,
        Path.of("/var/lib/graft/lab/gpu-gpu0.pid"),
        Path.of("/var/lib/graft/lab/gpu-gpu0.log"),
        List.of("--idle-timeout", "30m"));
  }

  @Test
  void aServersUnitGivesItNoPrivileges() {
    MakeUnit unit = server("software").units(true).get(1);
    assertThat(unit.unit()).isEqualTo("graft-server@lab.gpu0.service");
    assertThat(unit.text())
        .contains("Type=notify\n", "User=graft\n", "Restart=on-failure\n")
        .contains("CapabilityBoundingSet=\n", "NoNewPrivileges=yes\n", "PrivateDevices=yes\n")
        .contains("Requires=graft-starter@%i.service\n", "After=graft-starter@%i.service ")
        .contains("\"--starter\" \"/run/graft/lab.gpu0/starter.sock\"")
        .contains("\"--tokens\" \"/var/lib/graft-server/lab.gpu0/tokens\"")
        .contains("\"--idle-timeout\" \"30m\"", "ReadWritePaths=-/var/log/graft/lab.gpu0\n")
        .contains("install -d -m 0700 -o graft -g graft /run/graft-arbiters\n")
        .contains("\"--arbiters\" \"/run/graft-arbiters\"")
        .doesNotContain("{", "}");
    assertThat(unit.atBoot()).isTrue();
    assertThat(server("software").units(false).get(1).atBoot()).isFalse();
  }

  /**
   * systemd deletes it when any unit of the user stops that says RemoveIPC=yes: systemd.exec(5).
   */
  @Test
  void theSharedMemoryOfGuestsOutlivesAServer() {
    for (MakeUnit unit : server("software").units(true)) {
      assertThat(unit.text()).doesNotContain("RemoveIPC=yes");
    }
  }

  @Test
  void itsStarterKnowsWhatTheServerDoesNot() {
    MakeUnit unit = server("software").units(true).get(0);
    assertThat(unit.unit()).isEqualTo("graft-starter@lab.gpu0.service");
    assertThat(unit.text())
        .contains("Type=notify\n", "Delegate=memory pids cpu\n")
        .contains("\"--write-starter-config\" \"/run/graft/lab.gpu0/starter.conf\"")
        .contains("\"--server-user\" \"graft\"")
        .doesNotContain("{", "}", "User=");
    assertThat(unit.atBoot()).as("the server starts it").isFalse();
  }

  /** A file that systemd appends to has no limit of its size; journald limits the journal. */
  @Test
  void theirLogsGoToTheJournal() {
    assertThat(server("software").units(true))
        .allMatch(unit -> !unit.text().contains("StandardOutput") && !unit.text().contains(".log"));
  }

  @Test
  void aMigInstanceIsTheOnlyDeviceOfBoth() {
    String mig = "MIG-9f2a5e7c-0f8e-5e52-9e0c-3a7c1a2b3c4d";
    assertThat(server(mig).units(true))
        .allMatch(unit -> unit.text().contains("Environment=CUDA_VISIBLE_DEVICES=" + mig + "\n"));
  }

  @Test
  void wordsOfACommandAreQuotedAsSystemdReadsThem() {
    assertThat(ServerUnit.command(List.of("/a b", "50%", "$HOME", "x\"y\\z")))
        .isEqualTo("\"/a b\" \"50%%\" \"$$HOME\" \"x\\\"y\\\\z\"");
  }

  @Test
  void systemdFindsNoErrorInThem() throws Exception {
    assumeTrue(Files.isExecutable(ANALYZE), "no systemd-analyze");
    List<String> command = new ArrayList<>(List.of(ANALYZE.toString(), "verify", "--man=no"));
    for (MakeUnit unit : server("software", "mlx5_0:1").units(true)) {
      command.add(write(unit).toString());
    }
    assertThat(run(command)).doesNotContain("graft-");
  }

  @Test
  void theirExposureIsBounded() throws Exception {
    assumeTrue(Files.isExecutable(ANALYZE), "no systemd-analyze");
    for (String[] ports : new String[][] {{}, {"mlx5_0:1"}}) {
      List<MakeUnit> units = server("gpu", ports).units(true);
      security(units.get(0), STARTER);
      security(units.get(1), SERVER);
    }
  }

  private void security(MakeUnit unit, String threshold) throws Exception {
    run(
        List.of(
            ANALYZE.toString(),
            "security",
            "--offline=true",
            "--no-pager",
            "--threshold=" + threshold,
            write(unit).toString()));
  }

  private Path write(MakeUnit unit) throws Exception {
    return Files.writeString(folder.resolve(unit.unit()), unit.text());
  }

  /** Runs a command that has to succeed, and returns what it prints. */
  private static String run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed;
  }
}
