package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Interruption;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft exec}: runs a command in a guest. */
@Prints(GuestForms.Executed.class)
@Command(
    name = "exec",
    exitCodeOnExecutionException = ExitCode.NOT_RUN,
    mixinStandardHelpOptions = true,
    header = "Runs a command in a guest.",
    description = {
      "",
      "The program runs as root and without a shell. Its output is shown as it comes, however much"
          + " it is; with --output json, when it has ended, the first 16 MiB of each stream. Graft"
          + " connects by the guest agent, without a network, or by SSH if the guest is set up by"
          + " SSH. By the agent, the output is in the guest's /tmp until the program has ended."
          + " Ctrl-C and a timeout end the program with its children. Ends with the program's exit"
          + " code, 128 plus the signal's number if a signal ended it, or 125 if it could not be"
          + " run.",
      "",
      "With -t the program has a terminal in the guest, of the size of this one, and all keys go to"
          + " it, Ctrl-C too. What the guest prints there reaches this terminal as it is. By SSH"
          + " and by the agent, ~. at the beginning of a line ends the session. Unless SSH makes"
          + " the terminal, the guest needs script(1), which most distributions install.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft exec lab.yaml alice -- /usr/lib/graft/graft-verify",
      "  graft exec lab alice -- /bin/sh -c 'cat /etc/graft/client.conf'",
      "  tar c data | graft exec --stdin lab alice -- tar x -C /srv",
      "  graft exec -it lab alice -- top"
    })
public final class ExecCommand implements Callable<Integer> {
  private static final Duration USUAL_LIMIT = Duration.ofMinutes(5);

  @Mixin Output output;
  @Mixin Target target;
  @Spec CommandSpec spec;

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
      description = "The time after which the program is killed (default: 5m, with -t none).")
  TimeSpan timeout;

  @Option(
      names = {"-i", "--stdin"},
      description = "Give the program this command's standard input, while it runs.")
  boolean stdin;

  @Option(
      names = {"-t", "--tty"},
      description = "Give the program a terminal, with this one's keys; -i is then implied.")
  boolean terminal;

  @Override
  public Integer call() throws Exception {
    if (terminal) {
      TerminalInGuest.check(spec.commandLine(), output);
    }
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    if (terminal) {
      return timeout == null
          ? TerminalInGuest.run(reached, words)
          : TerminalInGuest.run(reached, words, timeout.toDuration());
    }
    Optional<InputStream> input = stdin ? Optional.of(System.in) : Optional.empty();
    try (Connections connections = new Connections()) {
      GuestProcess process = reached.open(connections).start(words, input);
      return Interruption.during(
          process::stop, () -> output.isJson() ? collected(process) : passedOn(process));
    }
  }

  private Duration limit() {
    return timeout == null ? USUAL_LIMIT : timeout.toDuration();
  }

  private int passedOn(GuestProcess process) throws IOException {
    // Unlike System.out, these streams say when whoever reads them has gone. They stay open: an
    // error of exec itself is printed afterwards.
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    OutputStream err = new FileOutputStream(FileDescriptor.err);
    return process.await(out, err, limit());
  }

  private int collected(GuestProcess process) throws IOException {
    KeptOutput out = new KeptOutput();
    KeptOutput err = new KeptOutput();
    int code = process.await(out, err, limit());
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
