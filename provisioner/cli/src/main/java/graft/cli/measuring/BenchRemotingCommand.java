package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.values.TimeSpan;
import graft.comparison.bench.RemotingBench;
import graft.comparison.bench.RemotingResults;
import graft.comparison.link.LinkBench;
import graft.comparison.local.OwnProgram;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Results;
import graft.comparison.results.ResultsTable;
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
          + " size, pinned and pageable, both ways; launches, alone and with a wait for the stream or"
          + " the context; what one in a thousand of these waits, and of the calls of thousands of"
          + " queued copies of 4 KiB, takes longer than (the figures named p99.9); allocation;"
          + " start-up and its round trips, and the first kernel of a new process, with the cache of"
          + " compiled kernels empty and filled. With --native the program also runs on this machine's"
          + " driver, in the same run, and ratios are to that. Over tcp, what plain TCP carries"
          + " with as many streams is measured too.",
      "",
      "With --rtt the server is far away: programs reach it over a link that delays, which a relay"
          + " inside Graft makes, and which is encrypted as connections to other machines are. The"
          + " table has the start of a small program to the end of its process (start), the steps of"
          + " a loop that copies to the device, launches 50 kernels and copies a number back (step),"
          + " and how often each waits for the server (waits). The link's round trips are the time"
          + " that the delay adds, divided by the round trip: beside the waits they contain those for"
          + " opening connections. A program of your own runs once without being measured, so that"
          + " its kernels are compiled, and then once over each link, in a new process.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft bench remoting --device gpu --native",
      "  graft bench remoting --device software --channel shm --quick",
      "  graft bench remoting --device gpu --channel tcp,tls",
      "  graft bench remoting --device gpu --native --save results",
      "  graft bench remoting --rtt 1ms,30ms,150ms --rate 100Mbit",
      "  graft bench remoting --rtt 30ms --device gpu -- python3 train.py"
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
      description =
          "shm, unix, tcp, tls (tcp with encryption) or rdma; several between commas (default:"
              + " shm,unix,tcp; with --rtt one of tcp and tls, default tls).")
  List<String> channels = List.of();

  @Mixin LinkOptions link;

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
      names = {"--save", "--folder"},
      paramLabel = "FOLDER",
      description =
          "Write remoting.md, remoting.json and remoting.svg there; with --rtt link.md and so on.")
  Path folder;

  @Override
  public Integer call() throws Exception {
    channels.forEach(PrivateServer::checkChannel);
    boolean isFar = link.areGiven();
    if (lanes != null) {
      output.err().println("--lanes is now --data-connections");
      dataConnections = lanes;
    }
    if (dataConnections < 1 || dataConnections > 16) {
      throw new GraftException("--data-connections must be from 1 to 16", "");
    }
    if (isFar) {
      return overLinks();
    }
    if (channels.isEmpty()) {
      channels = List.of("shm", "unix", "tcp");
    }
    Path client = ClientFolder.existing();
    RemotingBench bench =
        new RemotingBench(OwnProgram.path(), quick, limit.toDuration(), this::report);
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

  private Integer overLinks() throws Exception {
    String channel = channels.isEmpty() ? "tls" : channels.get(0);
    if (channels.size() > 1 || !(channel.equals("tcp") || channel.equals("tls"))) {
      throw new GraftException("--rtt needs one of the channels tcp and tls", "");
    }
    if (local) {
      throw new GraftException("--rtt and --native exclude each other", "");
    }
    LinkBench bench =
        new LinkBench(
            OwnProgram.path(), link.program(), quick ? 3 : 7, limit.toDuration(), this::report);
    Results results;
    try (PrivateServer server = PrivateServer.start(device, null, true)) {
      results = link.measure(bench, server, channel, ClientFolder.existing(), dataConnections);
    }
    ResultsTable table = new ResultsTable(results);
    results.settings().forEach(table::spread);
    Map<String, String> machine = machine();
    machine.put("channel", channel);
    machine.put("link", link.text());
    new SavedResults(output, results, link.text() + "\n\n" + table, results.tree(machine))
        .show(folder, "link", LinkBench.NEAR);
    return ExitCode.OK;
  }

  private void report(String line) {
    output.err().println(line);
    output.err().flush();
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
