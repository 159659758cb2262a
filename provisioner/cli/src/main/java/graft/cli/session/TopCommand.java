package graft.cli.session;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.values.TimeSpan;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code graft top}: shows who uses the GPUs, again and again. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    header = "Shows who uses the GPUs that this host serves, again and again.",
    description = {
      "",
      "Shows the table of graft sessions until Ctrl-C. In the first table GOT is a session's part"
          + " of the GPU's time since it began, later its part since the last table. With --output"
          + " json each line is one JSON object. Ends with 1 if a server does not answer the last"
          + " time.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft top",
      "  graft top lab --interval 10s",
      "  graft top --count 1 --output json"
    })
public final class TopCommand implements Callable<Integer> {
  private static final int MILLIS = 1000;

  @Mixin Output output;
  @Mixin Servers servers;

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "TIME",
      defaultValue = "2s",
      description = "The time between two tables (default: ${DEFAULT-VALUE}).")
  TimeSpan interval;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "End after this many tables (default: never).")
  int count;

  @Override
  public Integer call() throws Exception {
    SessionTable table = new SessionTable();
    boolean answered = true;
    for (int shown = 0; count <= 0 || shown < count; shown++) {
      if (shown > 0) {
        Thread.sleep(interval.seconds() * MILLIS);
      }
      List<Servers.Answer> answers = servers.ask();
      String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
      output.clearScreen();
      output.say(now + "\n" + (answers.isEmpty() ? Servers.NONE : table.text(answers)));
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("at", now);
      line.put("servers", answers.stream().map(Servers.Answer::toTree).toList());
      output.resultLine(line);
      answered = Servers.allAnswered(answers, output);
    }
    return answered ? ExitCode.OK : ExitCode.FAILED;
  }
}
