package graft.guests.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server in a guest that owns a GPU: who it runs as, and what systemd says of its units. */
@Timeout(120)
class GuestServerTest {
  private static final String SERVER = "/etc/systemd/system/graft-server.service";
  private static final String STARTER = "/etc/systemd/system/graft-starter.service";
  private static final String PREPARE = "/opt/graft/lib/prepare-server";
  private static final Path ANALYZE = Path.of("/usr/bin/systemd-analyze");

  @TempDir Path folder;

  private Payload payload(String options) {
    return payload("software", options);
  }

  private Payload payload(String device, String options) {
    PayloadBuilder builder =
        new PayloadBuilder(
            source ->
                List.of(
                    new TreeFile(new FileStamp(source.resolve("graft.jar"), 1, 2), "/x", true)));
    Variables given =
        Variables.none()
            .with("home", "/h")
            .with("guest", "owner")
            .with("port", "7800")
            .with("device", device)
            .with("options", options);
    builder.add(Bundles.near(folder).find(Bundles.SERVER).orElseThrow(), given);
    return builder.build("owner");
  }

  private static String text(Payload payload, String path) {
    return payload.files().stream()
        .filter(file -> file.path().equals(path))
        .flatMap(file -> file.text().stream())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theServerRunsAsItsOwnUserAndItsStarterAsRoot() {
    Payload payload = payload("--memory 1GiB");
    assertThat(text(payload, SERVER))
        .contains("User=graft\n", "Group=graft\n", "Type=notify\n", "CapabilityBoundingSet=\n")
        .contains("Requires=graft-starter.service\n", "PrivateDevices=yes\n")
        .contains(
            "ExecStart=/opt/graft/bin/graft serve --listen tcp://0.0.0.0:7800 --tokens"
                + " /etc/graft/server.tokens --device software --memory 1GiB --operator"
                + " /run/graft-server/operator.sock --arbiters /run/graft-arbiters --metrics"
                + " unix:///run/graft-server/metrics.sock --session-log on --starter"
                + " /run/graft/server/starter.sock\n")
        .contains("ReadWritePaths=-/run/graft-arbiters\n")
        .doesNotContain("{", "}");
    assertThat(text(payload, STARTER))
        .contains("--server-user graft", "RuntimeDirectory=graft/server\n")
        .contains("--memory 1GiB --write-starter-config /run/graft/server/starter.conf\n")
        .doesNotContain("{", "}", "User=");
    assertThat(payload.services())
        .as("an upgrade starts both again, the starter first")
        .containsExactly("graft-starter.service", "graft-server.service");
  }

  @Test
  void theSettingsOfTheBundleTurnMetricsAndTheLogOfSessionsOff() {
    assertThat(text(payload("--metrics off --session-log off"), SERVER))
        .contains("--metrics off --session-log off --operator")
        .doesNotContain("metrics.sock", "--session-log on");
  }

  @Test
  void theUserIsMadeBeforeTheServerNeedsIt() {
    Payload payload = payload("");
    assertThat(text(payload, STARTER))
        .containsSubsequence("ExecStartPre=+" + PREPARE, "ExecStartPre=+/opt/graft/bin/graft");
    assertThat(text(payload, "/etc/sysusers.d/graft-server.conf")).contains("u graft - ");
    assertThat(payload.files())
        .filteredOn(file -> file.path().equals(PREPARE))
        .extracting(PayloadFile::mode)
        .containsExactly(0755);
  }

  @Test
  void aServerOfAGpuMayWatchItAndNotUseIt() {
    assertThat(text(payload("gpu", ""), SERVER))
        .contains("DevicePolicy=closed\nDeviceAllow=char-nvidia-frontend rw\n")
        .contains("DeviceAllow=char-nvidia rw\n")
        .doesNotContain("PrivateDevices", "uvm");
  }

  @Test
  void anAdapterForRdmaIsTheOnlyDeviceOfTheServer() {
    assertThat(text(payload("--rdma-ports mlx5_0:1"), SERVER))
        .contains("DevicePolicy=closed\nDeviceAllow=char-infiniband_verbs rw\n")
        .doesNotContain("PrivateDevices");
  }

  @Test
  void aSitesOwnBundleMayHaveOtherSettings() {
    Variables own = Variables.none().with("port", "1");
    assertThat(GuestServer.withUnits(own).value("server-unit")).isEmpty();
  }

  @Test
  void systemdFindsNoErrorInTheUnitsAndRatesThemAsThoseOfAHost() throws Exception {
    assumeTrue(Files.isExecutable(ANALYZE), "no systemd-analyze");
    Payload payload = payload("--rdma-ports mlx5_0:1");
    for (String program : List.of("bin/graft", "lib/graft-starter", "lib/prepare-server")) {
      Path file = folder.resolve(program);
      Files.createDirectories(file.getParent());
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }
    Path starter = write(payload, STARTER);
    Path server = write(payload, SERVER);
    assertThat(analyze("verify", "--man=no", starter.toString(), server.toString()))
        .doesNotContain("graft-");
    analyze("security", "--offline=true", "--no-pager", "--threshold=60", starter.toString());
    analyze("security", "--offline=true", "--no-pager", "--threshold=30", server.toString());
  }

  private Path write(Payload payload, String path) throws IOException {
    String text = text(payload, path).replace("/opt/graft", folder.toString());
    return Files.writeString(folder.resolve(Path.of(path).getFileName()), text);
  }

  /** Runs systemd-analyze, which has to succeed, and returns what it prints. */
  private static String analyze(String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(ANALYZE.toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(printed).isZero();
    return printed;
  }
}
