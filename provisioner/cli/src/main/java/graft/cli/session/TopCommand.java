package graft.cli.session;

import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.Repetition;
import graft.deployment.descriptor.InvalidDescriptorException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft top}: shows who uses the GPUs, again and again. */
@Prints(HostForms.Top.class)
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
  @Mixin Output output;
  @Mixin Servers servers;
  @Mixin Repetition repetition;

  @Override
  public Integer call() throws Exception {
    SessionTable table = new SessionTable();
    return repetition.run(now -> show(table, now));
  }

  private int show(SessionTable table, String now) throws InvalidDescriptorException {
    List<Servers.Answer> answers = servers.ask();
    output.clearScreen();
    output.say(now + "\n" + (answers.isEmpty() ? Servers.NONE : table.text(answers)));
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", now);
    line.put("servers", answers.stream().map(Servers.Answer::toTree).toList());
    output.resultLine(line);
    return Servers.allAnswered(answers, output) ? ExitCode.OK : ExitCode.FAILED;
  }
}
