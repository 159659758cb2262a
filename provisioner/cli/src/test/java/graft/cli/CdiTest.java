package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft cdi} as a command. */
class CdiTest {
  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @Test
  void aDeviceHasTheWayToItsServersAndNothingElse() throws Exception {
    graft = new GraftProcess(folder);
    Path socket = Files.createFile(folder.resolve("gpu0.sock"));
    Path token = Files.writeString(folder.resolve("token"), "secret");
    Path out = folder.resolve("graft.json");
    graft
        .run(
            "cdi",
            "--server",
            "shm://" + socket,
            "--server",
            "tcp://10.0.0.2:7799",
            "--name",
            "bob",
            "--token-file",
            token.toString(),
            "--out",
            out.toString())
        .as(0);
    Map<?, ?> device =
        (Map<?, ?>) ((List<?>) Json.readObject(Files.readString(out)).get("devices")).get(0);
    Map<?, ?> edits = (Map<?, ?>) device.get("containerEdits");
    assertThat(device.get("name")).isEqualTo("bob");
    assertThat(edits.get("env"))
        .isEqualTo(
            List.of(
                "GRAFT_SERVER=shm:///run/graft/server.sock; tcp://10.0.0.2:7799",
                "GRAFT_NAME=bob",
                "GRAFT_TOKEN_FILE=/etc/graft/token"));
    assertThat((List<?>) edits.get("mounts"))
        .extracting(mount -> ((Map<?, ?>) mount).get("hostPath"))
        .isEqualTo(
            List.of(folder.resolve("client").toString(), socket.toString(), token.toString()));
    assertThat(Files.readString(out)).doesNotContain("secret");
  }

  @Test
  void aFileThatIsNotGraftsStays() throws Exception {
    Path out = Files.writeString(folder.resolve("nvidia.yaml"), "kind: nvidia.com/gpu\n");
    graft = new GraftProcess(folder);
    assertThat(graft.run("cdi", "--remove", "--out", out.toString()).as(1).err())
        .contains("was not written by graft cdi");
    assertThat(out).exists();
  }
}
