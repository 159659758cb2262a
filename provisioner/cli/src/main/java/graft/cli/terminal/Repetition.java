package graft.cli.terminal;

import graft.common.values.TimeSpan;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import picocli.CommandLine.Option;

/** How often a command looks again and shows what it sees. */
public final class Repetition {
  private static final int MILLIS = 1000;

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "TIME",
      defaultValue = "2s",
      description = "The time between two looks (default: ${DEFAULT-VALUE}).")
  TimeSpan interval;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "End after this many looks (default: never).")
  int count;

  /** What is shown each time. */
  public interface Look {
    /**
     * Looks and shows what there is.
     *
     * @param now the time, as it is shown
     * @return the exit code if this look is the last one
     */
    int at(String now) throws Exception;
  }

  /** Looks again and again; returns the exit code of the last look. */
  public int run(Look look) throws Exception {
    int code = ExitCode.OK;
    for (int shown = 0; count <= 0 || shown < count; shown++) {
      if (shown > 0) {
        Thread.sleep(interval.seconds() * MILLIS);
      }
      code = look.at(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }
    return code;
  }
}
