package graft.cli.hosts;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Version;
import graft.common.json.Json;
import graft.deployment.hosts.HostGreeting;
import graft.deployment.hosts.ReceivedRequest;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code graft on-host}: carries out what a Graft on another machine asks of this host. */
@Command(
    name = "on-host",
    hidden = true,
    mixinStandardHelpOptions = true,
    header = "Carries out what a Graft on another machine asks of this host.",
    description = {
      "",
      "Graft itself runs this command by SSH on each host of a descriptor with 'hosts'. It reads a"
          + " request in JSON from standard input, and prints a line with the version and the time,"
          + " then the JSON of the command that it runs.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft on-host < request.json"})
public final class OnHostCommand implements Callable<Integer> {
  private final Function<String[], CommandLine> commands;

  @Spec CommandSpec spec;

  /**
   * The command.
   *
   * @param commands the command line for some arguments
   */
  public OnHostCommand(Function<String[], CommandLine> commands) {
    this.commands = commands;
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    out.println(new HostGreeting(Version.line(), System.currentTimeMillis()).toJson());
    out.flush();
    ReceivedRequest request = ReceivedRequest.read(System.in);
    Optional<List<String>> command = request.command();
    int code = ExitCode.OK;
    if (command.isEmpty()) {
      out.println(Json.pretty(Output.withVersion(request.nothing())));
    } else {
      String[] arguments = command.get().toArray(String[]::new);
      code =
          commands
              .apply(arguments)
              .setOut(out)
              .setErr(spec.commandLine().getErr())
              .execute(arguments);
    }
    out.flush();
    if (code == ExitCode.OK) {
      request.cleanUp();
    }
    return code;
  }
}
