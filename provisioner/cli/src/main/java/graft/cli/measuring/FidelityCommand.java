package graft.cli.measuring;

import graft.cli.host.ClientToken;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.json.Json;
import graft.common.program.ClientFolder;
import graft.common.values.TimeSpan;
import graft.comparison.bench.Fidelity;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft fidelity}: checks whether programs behave remotely as they do natively. */
@Command(
    name = "fidelity",
    mixinStandardHelpOptions = true,
    header = "Runs every program of a folder natively and on a server, and compares.",
    description = {
      "",
      "A program passes if it ends with exit code 0. Where both pass, their outputs are compared;"
          + " lines that differ between native runs as well, such as times, do not count. Each"
          + " program runs twice: with the caches of compiled kernels empty, and then filled; natively"
          + " once more if it prints something else on the server.",
      "Ends with 0 if all that pass natively pass on the server and print the same, else with 1.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft fidelity --native --server tcp://gpu-node:7799 --token-file ~/.graft-token samples/",
      "  graft fidelity --native --device gpu samples/",
      "  graft fidelity --device software examples/built/"
    })
public final class FidelityCommand implements Callable<Integer> {
  @Mixin Output output;

  @ArgGroup(multiplicity = "1")
  Where where;

  /** The options that select the GPU. */
  static final class Where {
    @Option(
        names = "--server",
        paramLabel = "URL",
        description = "The server to use: tcp://, unix:// or shm://.")
    String server;

    @Option(
        names = "--device",
        paramLabel = "DEVICE",
        description = "Start a private server for software, gpu or gpu:N.")
    String device;
  }

  @Option(names = "--native", description = "Run the programs on this machine's driver as well.")
  boolean local;

  @Option(
      names = "--channel",
      paramLabel = "CHANNEL",
      defaultValue = "shm",
      description = "shm, unix, tcp or rdma, with --device (default: ${DEFAULT-VALUE}).")
  String channel;

  @Mixin ClientToken token;

  @Option(
      names = "--limit",
      paramLabel = "TIME",
      defaultValue = "60s",
      description = "The longest that a program may run (default: ${DEFAULT-VALUE}).")
  TimeSpan limit;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Write the outcomes and times there as JSON, a results file for bench summarize.")
  Path json;

  @Parameters(arity = "1", paramLabel = "FOLDER", description = "The folder with the programs.")
  Path folder;

  @Override
  public Integer call() throws Exception {
    List<Path> programs = Fidelity.programs(folder);
    Path client = ClientFolder.existing();
    if (where.server != null) {
      return run(
          programs,
          ProgramEnvironment.remote("server", client, where.server, token.name(), token.file()));
    }
    PrivateServer.checkChannel(channel);
    try (PrivateServer server = PrivateServer.start(where.device, null, true)) {
      return run(programs, server.environment(channel, client));
    }
  }

  private int run(List<Path> programs, ProgramEnvironment remote)
      throws IOException, InterruptedException {
    Fidelity fidelity =
        new Fidelity(
            local ? ProgramEnvironment.ofThisMachine() : null,
            remote,
            limit.toDuration(),
            outcome -> {
              output.err().println(outcome);
              output.err().flush();
            });
    List<Fidelity.Outcome> outcomes = fidelity.run(programs);
    output.say(Fidelity.table(outcomes));
    output.result(Fidelity.tree(outcomes));
    if (json != null) {
      Files.writeString(json, Json.pretty(Fidelity.tree(outcomes)) + "\n");
    }
    boolean equal =
        outcomes.stream()
            .allMatch(o -> o.verdict().equals("passes") || o.verdict().equals("fails natively"));
    return equal ? ExitCode.OK : ExitCode.FAILED;
  }
}
