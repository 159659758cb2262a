package graft.cli.session;

import graft.cli.deployment.Target;
import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.deployment.OperatedServer;
import graft.deployment.state.StateFolder;
import graft.deployment.step.host.ServerLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft logs}: shows what servers have printed. */
@Prints(HostForms.Logs.class)
@Command(
    name = "logs",
    mixinStandardHelpOptions = true,
    header = "Shows what the server of a GPU has printed, or what it has printed of a guest.",
    description = {
      "",
      "Reads the log of a server that graft apply has started: the journal of its units, or its"
          + " file. With the name of a guest, shows the lines that name the guest: how its sessions"
          + " began and ended, and why connections were refused.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft logs lab gpu0", "  graft logs lab alice --follow"})
public final class LogsCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;
  @Spec CommandSpec spec;

  @Parameters(index = "1", paramLabel = "GPU|GUEST", description = "The GPU's or guest's name.")
  String name;

  @Option(
      names = {"-n", "--lines"},
      defaultValue = "40",
      description = "How many lines from the end to show (default: ${DEFAULT-VALUE}).")
  int lines;

  @Option(
      names = {"-f", "--follow"},
      description = "Keep printing new lines, until Ctrl-C.")
  boolean follow;

  @Override
  public Integer call() throws Exception {
    if (follow && output.isJson()) {
      throw new ParameterException(spec.commandLine(), "--follow prints text, not JSON");
    }
    StateFolder state = target.state();
    List<OperatedServer> servers = OperatedServer.loggingOf(state, name);
    boolean isServer = servers.size() == 1 && servers.get(0).name().equals(name);
    Predicate<String> chosen = isServer ? line -> true : naming(name);
    if (follow) {
      follow(servers, chosen);
      return ExitCode.OK;
    }
    List<Object> trees = new ArrayList<>();
    for (OperatedServer server : servers) {
      ServerLog log = server.log().orElseThrow();
      List<String> last = log.last(lines, chosen);
      last.forEach(output::say);
      trees.add(Map.of("server", server.toString(), "log", log.where(), "lines", last));
    }
    output.result(Map.of("logs", trees));
    return ExitCode.OK;
  }

  private void follow(List<OperatedServer> servers, Predicate<String> chosen) throws Exception {
    ExecutorService followers = Executors.newFixedThreadPool(Math.max(1, servers.size()));
    try {
      ExecutorCompletionService<Void> ends = new ExecutorCompletionService<>(followers);
      for (OperatedServer server : servers) {
        ends.submit(
            () -> {
              server.log().orElseThrow().follow(lines, chosen, output::say);
              return null;
            });
      }
      ends.take().get(); // none ends but by an error
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      followers.shutdownNow();
    }
  }

  /** Chooses the lines with this name, and not those with a longer name that contains it. */
  static Predicate<String> naming(String guest) {
    return Pattern.compile("(?<![\\w.-])" + Pattern.quote(guest) + "(?![\\w-]|\\.\\w)")
        .asPredicate();
  }
}
