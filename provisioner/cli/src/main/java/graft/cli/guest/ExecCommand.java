package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Interruption;
import graft.cli.terminal.Output;
import graft.common.values.TimeSpan;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.observe.Connections;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.KeptOutput;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
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
      "The program runs as root and without a shell. Its output is shown as it comes, however much it"
          + " is; with --output json, when it has ended, the first 16 MiB of each stream. Graft"
          + " connects by the guest agent, without a network, or by SSH if the guest is set up by SSH."
          + " By the agent, the output is in the guest's /tmp until the program has ended. Ctrl-C and"
          + " a timeout end the program with its children. Ends with the program's exit code, 128"
          + " plus the signal's number if a signal ended it, or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft exec lab.yaml alice -- /usr/lib/graft/graft-verify",
      "  graft exec lab alice -- /bin/sh -c 'cat /etc/graft/client.conf'",
      "  tar c data | graft exec --stdin lab alice -- tar x -C /srv"
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

  @Option(
      names = {"-i", "--stdin"},
      description =
          "Give the program this command's standard input. By the agent, the input is read to its"
              + " end before the program starts.")
  boolean stdin;

  @Override
  public Integer call() throws Exception {
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    InputStream input = stdin ? System.in : InputStream.nullInputStream();
    try (Connections connections = new Connections()) {
      GuestProcess process = reached.open(connections).start(words, input);
      return Interruption.during(
          process::stop, () -> output.isJson() ? collected(process) : passedOn(process));
    }
  }

  private int passedOn(GuestProcess process) throws IOException {
    // Unlike System.out, these streams say when whoever reads them has gone. They stay open: an
    // error of exec itself is printed afterwards.
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    OutputStream err = new FileOutputStream(FileDescriptor.err);
    return process.await(out, err, timeout.toDuration());
  }

  private int collected(GuestProcess process) throws IOException {
    KeptOutput out = new KeptOutput();
    KeptOutput err = new KeptOutput();
    int code = process.await(out, err, timeout.toDuration());
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", guest);
    tree.put("exitCode", code);
    tree.put("stdout", out.toString(StandardCharsets.UTF_8));
    tree.put("stderr", err.toString(StandardCharsets.UTF_8));
    tree.put("truncated", out.isTruncated() || err.isTruncated());
    output.result(tree);
    return code;
  }
}
