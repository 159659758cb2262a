package graft.cli.hosts;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Version;
import graft.common.GraftException;
import graft.common.json.Json;
import graft.deployment.hosts.HostGreeting;
import graft.deployment.hosts.ReceivedRequest;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    try {
      return carryOut(ReceivedRequest.read(System.in), out);
    } catch (GraftException e) {
      // The last line of the text, which the operator sees, would be what to do, without the cause.
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("error", e.getMessage());
      tree.put("exitCode", ExitCode.FAILED);
      tree.put("problems", List.of());
      out.println(Json.pretty(Output.withVersion(tree)));
      out.flush();
      return ExitCode.FAILED;
    }
  }

  private int carryOut(ReceivedRequest request, PrintWriter out) {
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
