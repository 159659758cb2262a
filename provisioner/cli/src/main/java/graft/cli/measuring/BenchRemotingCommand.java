package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.values.TimeSpan;
import graft.comparison.bench.RemotingBench;
import graft.comparison.bench.RemotingResults;
import graft.comparison.local.OwnProgram;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Results;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code graft bench remoting}: measures the cost of a remote GPU relative to a GPU of this
 * machine.
 */
@Command(
    name = "remoting",
    mixinStandardHelpOptions = true,
    header = "Measures copies, launches and waits over each channel.",
    description = {
      "",
      "Starts a private server for each channel and runs one driver-API program there: copies by"
          + " size, pinned and pageable, both ways; launches, alone and with a wait; allocation;"
          + " start-up and its round trips, and the first kernel of a new process, with the cache of"
          + " compiled kernels empty and filled. With --native the program also runs on this machine's"
          + " driver, in the same run, and ratios are to that. Over tcp, what plain TCP carries"
          + " with as many streams is measured too.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft bench remoting --device gpu --native",
      "  graft bench remoting --device software --channel shm --quick",
      "  graft bench remoting --device gpu --channel tcp,tls",
      "  graft bench remoting --device gpu --native --save results"
    })
final class BenchRemotingCommand implements Callable<Integer> {
  @Mixin Output output;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      defaultValue = "software",
      description = "software, gpu, or gpu:N (default: ${DEFAULT-VALUE}).")
  String device;

  @Option(
      names = "--channel",
      paramLabel = "CHANNEL",
      split = ",",
      defaultValue = "shm,unix,tcp",
      description =
          "shm, unix, tcp, tls (tcp with encryption) or rdma; several between commas (default:"
              + " ${DEFAULT-VALUE}).")
  List<String> channels;

  @Option(names = "--native", description = "Measure this machine's own driver as well.")
  boolean local;

  @Option(names = "--quick", description = "No copies over 8 MiB, fewer samples.")
  boolean quick;

  @Option(
      names = "--data-connections",
      paramLabel = "N",
      defaultValue = "6",
      description =
          "Data connections of a session over tcp, tls and unix (default: ${DEFAULT-VALUE}).")
  int dataConnections;

  /** The former name of {@code --data-connections}. */
  @Option(names = "--lanes", hidden = true)
  Integer lanes;

  @Option(
      names = "--limit",
      paramLabel = "TIME",
      defaultValue = "5m",
      description = "The longest that one channel may take (default: ${DEFAULT-VALUE}).")
  TimeSpan limit;

  @Option(
      names = "--save",
      paramLabel = "FOLDER",
      description = "Write remoting.md, remoting.json and remoting.svg there.")
  Path folder;

  @Override
  public Integer call() throws Exception {
    channels.forEach(PrivateServer::checkChannel);
    if (lanes != null) {
      output.err().println("--lanes is now --data-connections");
      dataConnections = lanes;
    }
    if (dataConnections < 1 || dataConnections > 16) {
      throw new GraftException("--data-connections must be from 1 to 16", "");
    }
    Path client = ClientFolder.existing();
    RemotingBench bench =
        new RemotingBench(
            OwnProgram.path(),
            quick,
            limit.toDuration(),
            what -> {
              output.err().println(what);
              output.err().flush();
            });
    Results results = new Results();
    if (local) {
      results.addAll(bench.measure(ProgramEnvironment.ofThisMachine()));
    }
    try (PrivateServer server = PrivateServer.start(device, null, true)) {
      for (String channel : channels) {
        ProgramEnvironment setting =
            server
                .environment(channel, client)
                .with("GRAFT_DATA_CONNECTIONS", Integer.toString(dataConnections));
        results.addAll(bench.measure(setting));
      }
    }
    if (channels.contains("tcp") || channels.contains("tls")) {
      results.addAll(bench.plain(dataConnections));
    }
    RemotingResults.withBest(results);
    new SavedResults(output, results, RemotingResults.table(results), results.tree(machine()))
        .show(folder, "remoting", RemotingResults.NATIVE);
    return ExitCode.OK;
  }

  private Map<String, String> machine() {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("date", LocalDate.now(java.time.ZoneOffset.UTC).toString());
    machine.put("device", device);
    machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    machine.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("lanes", Integer.toString(dataConnections));
    return machine;
  }
}
