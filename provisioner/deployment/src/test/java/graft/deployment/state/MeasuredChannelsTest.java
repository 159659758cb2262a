package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.state.ChannelMeasurement.Figures;
import graft.deployment.state.ChannelMeasurement.Speed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of measured channels. */
class MeasuredChannelsTest {
  private static final ChannelMeasurement BOTH =
      new ChannelMeasurement(
          Instant.parse("2026-02-02T03:04:05Z"),
          List.of("a region of 128MiB", "tcp://a:1"),
          List.of(
              new Figures("ivshmem://a:1", Optional.empty()),
              new Figures("tcp://a:1", Optional.of(new Speed(16.25, 9000, 900.5)))));

  @TempDir Path folder;

  private MeasuredChannels measured() {
    return new MeasuredChannels(new StateFolder(new Name("lab"), folder));
  }

  @Test
  void theLastMeasurementOfEachGuestIsKept() {
    ChannelMeasurement none =
        new ChannelMeasurement(Instant.parse("2026-01-02T03:04:05Z"), List.of(), List.of());
    measured().keep("alice", none);
    measured().keep("alice", BOTH);
    measured().keep("bob", none);
    assertThat(measured().all()).isEqualTo(Map.of("alice", BOTH, "bob", none));
  }

  @Test
  void aDeploymentThatWasNotMeasuredHasNone() {
    assertThat(measured().all()).isEmpty();
    StateFolder none = new StateFolder(new Name("lab"), folder.resolve("none"));
    assertThat(new MeasuredChannels(none).all()).isEmpty();
  }

  @Test
  void aFileOfSomethingElseSaysHowToReplaceIt() throws Exception {
    for (String text : List.of("measured yesterday", "{}", "{\"when\": \"yesterday\"}")) {
      Files.writeString(folder.resolve("guest-alice.channels"), text);
      assertThatThrownBy(() -> measured().all())
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("guest-alice.channels")
          .hasMessageContaining("graft verify --channels lab alice measures again");
    }
  }
}
