package graft.cli.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProfilerLibraryTest {
  @TempDir Path client;

  private void build() throws IOException {
    Files.createDirectory(client.resolve("cupti"));
    Files.createFile(client.resolve("cupti/libcupti.so.12"));
    Files.createFile(client.resolve("cupti/libcupti.so.13"));
  }

  @Test
  void comesBeforeWhatTheProgramLoadsAnyway() throws IOException {
    build();
    String ours = client + "/cupti/libcupti.so.13:" + client + "/cupti/libcupti.so.12";

    assertThat(ProfilerLibrary.environment(client, Map.of()))
        .containsEntry("LD_PRELOAD", ours)
        .containsEntry("TRITON_CUPTI_LIB_PATH", client + "/cupti");
    assertThat(ProfilerLibrary.environment(client, Map.of("LD_PRELOAD", "/lib/mine.so")))
        .containsEntry("LD_PRELOAD", ours + ":/lib/mine.so");
  }

  @Test
  void isMissedBeforeTheProgramStarts() {
    assertThatThrownBy(() -> ProfilerLibrary.environment(client, Map.of()))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("there is no " + client.resolve("cupti/libcupti.so.13"));
  }
}
