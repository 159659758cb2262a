package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a worker sees of the folder of a profiling library. */
@Timeout(120)
class ProfilerJailTest {
  @TempDir Path folder;

  private static HostileClient alice(ServerFixture fixture) throws IOException {
    return HostileClient.session(fixture.address(), "alice", ServerFixture.ALICE);
  }

  @Test
  void itSeesTheLibraryAloneAndStartsWhenThatHasGone() throws Exception {
    Path library = Files.createFile(folder.resolve("libcupti.so.2025.3.1"));
    Path link = Files.createSymbolicLink(folder.resolve("libcupti.so.13"), library.getFileName());
    JailConfig jail = JailConfig.defaults().withProfiler(link);
    try (ServerFixture fixture =
        ServerFixture.start(folder, "hostile", config -> config.jail(jail))) {
      Isolation isolation = fixture.server.isolation();
      assumeTrue(isolation.has("mounts"), isolation::describeMissing);
      try (HostileClient alice = alice(fixture)) {
        assertThat(alice.attempt("see " + folder)).isEqualTo("libcupti.so.13 libcupti.so.2025.3.1");
        assertThat(alice.attempt("write " + link)).isNotEqualTo("DONE");
      }
      Files.delete(library);
      try (HostileClient alice = alice(fixture)) {
        assertThat(alice.attempt("see " + folder)).isEqualTo("libcupti.so.13");
      }
    }
  }
}
