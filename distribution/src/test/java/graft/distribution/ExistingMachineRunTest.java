package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A CUDA program on a machine that exists already, from its descriptor to its destruction. */
@Tag("integration")
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER)
class ExistingMachineRunTest {
  @TempDir Path folder;
  private SshHosts hosts;

  @BeforeEach
  void start() throws Exception {
    hosts = new SshHosts(folder, "e2e");
  }

  @AfterEach
  void stop() throws Exception {
    if (hosts != null) {
      hosts.run("destroy", "e2e");
      hosts.end();
    }
  }

  private List<String> files() throws IOException {
    try (Stream<Path> all = Files.walk(folder.resolve("root"))) {
      return all.map(Path::toString).sorted().toList();
    }
  }

  /** The descriptor of the machine, as {@code adopt} writes it. */
  private String adopted() throws Exception {
    String lab = folder.resolve("e2e.yaml").toString();
    hosts.said(
        "adopt",
        "root@127.0.0.1",
        lab,
        "--port",
        String.valueOf(hosts.machinePort()),
        "--key",
        folder.resolve("key").toString(),
        "--known-hosts",
        folder.resolve("known-hosts").toString());
    return lab;
  }

  @Test
  void aCudaProgramRunsThereUntilItsAccessIsRevoked() throws Exception {
    List<String> before = files();
    byte[] cache = Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"));
    String lab = adopted();
    hosts.said("apply", lab);
    assertThat(Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"))).isNotEqualTo(cache);
    assertThat(hosts.said("verify", lab))
        .contains(": ok on Graft software device 0 at tcp://127.0.0.1:")
        .contains("this Graft's");
    hosts.said("rotate", lab);
    hosts.said("verify", lab);
    String guest =
        hosts.said("status", lab).replaceFirst("(?s).*guest ([a-z0-9-]+): existing.*", "$1");
    hosts.said("revoke", lab, guest);
    assertThat(hosts.run("verify", lab).out()).contains("failed");
    hosts.said("destroy", lab);
    assertThat(files()).isEqualTo(before);
    assertThat(Files.readAllBytes(folder.resolve("root/etc/ld.so.cache"))).isEqualTo(cache);
  }

  /** Each server has a token of its own, and one that is lost is not overlooked. */
  @Test
  @WithLongTests
  void aCudaProgramRunsOnTheGpusOfTwoServers() throws Exception {
    List<String> before = files();
    String lab = adopted();
    Path file = Path.of(lab);
    Files.writeString(
        file,
        Files.readString(file)
            .replaceFirst("(?m)^gpus:.*$", "$0\n  - {name: second, device: software}")
            .replaceFirst("vgpu: (\\S+)", "vgpu: [$1, second]"));
    String both =
        "ok on Graft software device 0 %1$s tcp://127\\.0\\.0\\.1:\\d+;"
            + " Graft software device 0 %1$s tcp://127\\.0\\.0\\.1:\\d+";
    hosts.said("apply", lab);
    String status = hosts.said("status", lab);
    assertThat(status).containsPattern("CUDA " + both.formatted("by"));
    List<String> tokens = tokens();
    hosts.said("rotate", lab);
    assertThat(tokens()).hasSize(2).doesNotHaveDuplicates().doesNotContainAnyElementsOf(tokens);
    assertThat(hosts.said("verify", lab)).containsPattern(both.formatted("at"));
    hosts.said("stop", lab, "second");
    assertThat(hosts.run("verify", lab).out()).contains("failed: 1 of 2 servers cannot be reached");
    hosts.said("start", lab, "second");
    hosts.said("revoke", lab, status.replaceFirst("(?s).*guest ([a-z0-9-]+): existing.*", "$1"));
    assertThat(hosts.run("verify", lab).out()).contains("failed");
    hosts.said("destroy", lab);
    assertThat(files()).isEqualTo(before);
  }

  /** The tokens on the machine, which only root may read. */
  private List<String> tokens() throws IOException {
    List<String> tokens = new ArrayList<>();
    for (String name : List.of("token", "token-second")) {
      Path token = folder.resolve("root/etc/graft").resolve(name);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(token)))
          .isEqualTo("rw-------");
      tokens.add(Files.readString(token));
    }
    return tokens;
  }
}
