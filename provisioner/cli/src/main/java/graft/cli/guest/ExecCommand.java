package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.values.TimeSpan;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.observe.Connections;
import graft.guests.connection.Ended;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft exec}: runs a command in a guest. */
@Command(
    name = "exec",
    exitCodeOnExecutionException = ExitCode.NOT_RUN,
    mixinStandardHelpOptions = true,
    header = "Runs a command in a guest.",
    description = {
      "",
      "The program runs as root and without a shell; its output is shown when it has ended. Graft"
          + " connects by the guest agent, without a network, or by SSH if the guest is set up by SSH."
          + " Ends with the program's exit code, 128 plus the signal's number if a signal ended it,"
          + " or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft exec lab.yaml alice -- nvidia-smi",
      "  graft exec lab alice -- /bin/sh -c 'cat /etc/graft/client.conf'"
    })
public final class ExecCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Parameters(
      index = "2..*",
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "The program and its arguments, after --.")
  List<String> words;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "5m",
      description = "The time after which the program is killed (default: ${DEFAULT-VALUE}).")
  TimeSpan timeout;

  @Override
  public Integer call() throws Exception {
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    try (Connections connections = new Connections()) {
      Ended ended = reached.open(connections).run(words, new byte[0], timeout.toDuration());
      if (!output.isJson()) {
        ended.output().writeTo(System.out);
        System.out.flush();
        ended.errorOutput().writeTo(System.err);
        System.err.flush();
      }
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("guest", guest);
      tree.put("exitCode", ended.code());
      tree.put("stdout", ended.outputText());
      tree.put("stderr", ended.errorText());
      tree.put("truncated", ended.truncated());
      output.result(tree);
      return ended.code();
    }
  }
}
