package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.terminal.ExitCode;
import graft.common.json.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code graft ui} as users run it. */
@Timeout(180)
class UiCommandTest {
  private static final int SIGTERM = 143;

  @TempDir Path folder;

  private Process start(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    builder.redirectError(folder.resolve("errors").toFile());
    return builder.start();
  }

  private void journal(String deployment, String text) throws Exception {
    Path state = folder.resolve("state").resolve(deployment);
    Files.createDirectories(
        state, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.writeString(state.resolve("journal.jsonl"), text);
  }

  private String errors() throws Exception {
    return Files.readString(folder.resolve("errors"));
  }

  @Test
  void itServesUntilSigtermAndShowsTheTokenInItsFileAlone() throws Exception {
    journal("bad", "no journal\n");
    Path descriptor = Files.writeString(folder.resolve("lab.yaml"), "graft: no descriptor\n");
    journal(
        "lab",
        "{\"event\":\"run\",\"at\":\"2026-11-23T21:08:52Z\",\"version\":2,\"command\":\"apply\","
            + "\"run\":1,\"descriptor\":\""
            + descriptor
            + "\",\"uri\":\"qemu:///session\"}\n");
    Path file = folder.resolve("token");
    Process process = start("ui", "--token-file", file.toString(), "--output", "json");
    try {
      String line = process.inputReader().readLine();
      assertThat(line).as(errors()).isNotNull();
      String token = Files.readString(file).strip();
      assertThat(line).doesNotContain(token);
      assertThat(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")))
          .doesNotContain(token);
      Map<String, Object> told = Json.readObject(line);
      assertThat(told).containsEntry("tokenFile", file.toString());
      URI data = URI.create(told.get("address") + "room.json");
      HttpClient client = HttpClient.newHttpClient();
      HttpRequest.Builder request = HttpRequest.newBuilder(data);
      assertThat(client.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(401);
      request.header("Authorization", "Bearer " + token);
      Map<String, Object> room = Map.of("status", Map.of());
      while (((Map<?, ?>) room.get("status")).get("at") == null) { // until it has looked
        room =
            Json.readObject(
                client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body());
      }
      assertThat(rows(room, "deployments"))
          .as("neither a damaged folder nor a wrong descriptor hides the others")
          .extracting(
              row -> row.get("deployment") + " " + row.get("state") + " " + row.get("drift"))
          .containsExactly("bad damaged unknown", "lab not applied unknown");
      assertThat(rows(room, "plan"))
          .extracting(row -> row.get("deployment") + " " + row.get("kind"))
          .containsExactly("bad damaged", "lab not compared");
      assertThat((Map<?, ?>) room.get("host")).extracting("name").isNotNull();
      process.destroy();
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(SIGTERM);
      assertThat(errors()).doesNotContain(token);
    } finally {
      process.destroyForcibly();
    }
  }

  private static List<Map<?, ?>> rows(Map<String, Object> room, String table) {
    List<Map<?, ?>> rows = new ArrayList<>();
    ((List<?>) room.get(table)).forEach(row -> rows.add((Map<?, ?>) row));
    return rows;
  }

  private static String run(int code, String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine(arguments);
    line.setOut(new PrintWriter(new StringWriter())).setErr(new PrintWriter(err));
    assertThat(line.execute(arguments)).as(err.toString()).isEqualTo(code);
    return err.toString();
  }

  @Test
  void aTokenThatNobodyWouldSeeAndAnAddressThatOthersReachAreRefused() {
    String file = folder.resolve("token").toString();
    assertThat(run(ExitCode.USAGE, "ui", "-o", "json")).contains("--token-file");
    assertThat(run(ExitCode.USAGE, "ui", "--listen", "x", "--token-file", file)).contains("tcp://");
    run(ExitCode.USAGE, "ui", "--listen", "127.0.0.1:0", "--socket", "/tmp/s");
    assertThat(run(ExitCode.FAILED, "ui", "--listen", "0.0.0.0:0", "--token-file", file))
        .contains("loopback", "ssh -L");
  }
}
