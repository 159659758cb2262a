package graft.comparison.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.comparison.bench.ProgramRun;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs over links; they are shell scripts that say what the client would say. */
@Timeout(120)
final class LinkBenchTest {
  @TempDir Path folder;

  private Path script(String text) throws IOException {
    Path program = folder.resolve("program");
    Files.writeString(program, "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return program;
  }

  private static LinkBench.Link link(String time) {
    RoundTrip roundTrip = RoundTrip.parse(time);
    return new LinkBench.Link(
        roundTrip, new ProgramEnvironment("rtt " + roundTrip, Map.of("DELAY", time)));
  }

  private static String waits(String count) {
    return "echo \"graft: calls="
        + count
        + " asynchronous=1 round-trips="
        + count
        + " waited=1.0ms\" >&2";
  }

  private Results measure(String text) throws Exception {
    LinkBench bench = new LinkBench(script(text), List.of(), 5, Duration.ofSeconds(30), line -> {});
    return bench.measure(List.of(link("0ms"), link("100ms")));
  }

  private static double value(Results results, String setting, String name) {
    return results.measurements().stream()
        .filter(m -> m.setting().equals(setting) && m.name().equals(name))
        .map(Measurement::value)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theWaitsOfAStepAreThoseThatFurtherStepsAdd() throws Exception {
    Results results =
        measure(
            "case $1$2 in"
                + " load) [ $DELAY = 0ms ] || sleep 0.5; "
                + waits("6")
                + ";;"
                + " stepscale=0.1) "
                + waits("7")
                + ";;"
                + " step) echo '{\"name\":\"step\",\"unit\":\"ms\",\"samples\":[2,3,4]}'; "
                + waits("25")
                + ";; *) exit 3;; esac");
    assertThat(results.settings()).containsExactly("rtt 0", "rtt 100ms");
    for (String setting : results.settings()) {
      assertThat(value(results, setting, "start-waits")).isEqualTo(6);
      assertThat(value(results, setting, "step-waits")).isEqualTo(2);
      assertThat(value(results, setting, "step")).isEqualTo(3);
    }
    assertThat(value(results, "rtt 100ms", "start")).isGreaterThan(0.5);
    assertThat(value(results, "rtt 100ms", "start-link-round-trips")).isGreaterThan(2);
    assertThat(results.measurements())
        .filteredOn(m -> m.name().equals("start"))
        .allMatch(m -> m.samples().size() == 5 && m.state() == State.FILLED);
  }

  @Test
  void theWaitsOfAProgramAndItsChildrenAreAdded() {
    ProgramRun run =
        new ProgramRun(
            0,
            "",
            "hello\ngraft: calls=9 asynchronous=2 round-trips=7 waited=2ms records=1B\n"
                + "graft:   cuMemAlloc_v2  1 calls 1 waits\n"
                + "graft: calls=3 asynchronous=0 round-trips=3 waited=2ms records=1B\n",
            1);
    assertThat(LinkBench.waits(run)).isEqualTo(10);
    assertThat(LinkBench.waits(new ProgramRun(0, "", "nothing", 1))).isNull();
  }

  @Test
  void aProgramThatFailsIsNamedWithItsLink() {
    assertThatThrownBy(() -> measure("echo out of luck >&2; exit 5"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("rtt 0")
        .hasMessageContaining("exit code 5")
        .hasMessageContaining("out of luck");
  }
}
