package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.terminal.ExitCode;
import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft list} as users run it. */
class ListTest {
  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @BeforeEach
  void start() throws Exception {
    graft = new GraftProcess(folder);
  }

  private void journal(String deployment, String text) throws Exception {
    Path state = graft.state(deployment);
    Files.createDirectories(
        state, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.writeString(state.resolve("journal.jsonl"), text);
  }

  private static String record(String descriptor) {
    return "{\"event\":\"run\",\"at\":\"2026-11-23T21:08:52Z\",\"version\":2,\"command\":\"apply\","
        + "\"run\":1,\"descriptor\":\""
        + descriptor
        + "\",\"uri\":\"qemu:///session\"}\n";
  }

  @Test
  void nothingWasApplied() throws Exception {
    assertThat(graft.run("list").as(0).out()).isEqualTo("no deployment has been applied\n");
    assertThat(Json.readObject(graft.run("list", "-o", "json").as(0).out()))
        .containsEntry("deployments", List.of());
  }

  @Test
  void aDamagedFolderIsALineAndHidesNoOther() throws Exception {
    journal("lab", record("/d/lab.yaml"));
    assertThat(graft.run("list").as(0).out())
        .isEqualTo(
            """
            DEPLOYMENT  STATE        DRIFT    GUESTS  DESCRIPTOR
            lab         not applied  unknown  -       /d/lab.yaml (gone)
            """);
    journal("bad", "\u001b]0;owned\u0007\n");
    GraftProcess.Ended ended = graft.run("list").as(ExitCode.FAILED);
    assertThat(ended.out())
        .contains("bad         damaged      unknown  -       -\n  the journal ")
        .contains("lab         not applied  ")
        .doesNotContain("\u001b", "\u0007");
    assertThat(ended.err()).isEmpty();
    Map<String, Object> tree =
        Json.readObject(graft.run("list", "-o", "json").as(ExitCode.FAILED).out());
    assertThat((List<?>) tree.get("deployments")).hasSize(2);
    assertThat(graft.run("status").as(ExitCode.FAILED).out())
        .as("status without a deployment is the same list")
        .isEqualTo(ended.out());
  }

  @Test
  void theStatusOfADeploymentThatWasNotAppliedIsADifferenceWithAReason() throws Exception {
    journal("lab", record("/nowhere/lab.yaml"));
    GraftProcess.Ended ended = graft.run("status", "lab").as(ExitCode.DIFFERS);
    assertThat(ended.out())
        .isEqualTo(
            """
            lab: not applied
            the comparison is not possible:
              the descriptor /nowhere/lab.yaml is gone
            """);
    Files.writeString(graft.state("lab").resolve("journal.jsonl"), "");
    assertThat(graft.run("status", "lab").as(ExitCode.DIFFERS).out())
        .contains("no descriptor is recorded");
    GraftProcess.Ended watched =
        graft.run("status", "--watch", "--count", "2", "--interval", "1s", "-o", "json", "lab");
    assertThat(watched.as(ExitCode.DIFFERS).out().lines().toList())
        .hasSize(2)
        .allSatisfy(
            line -> assertThat(Json.readObject(line)).containsKeys("at", "guests", "findings"));
  }
}
