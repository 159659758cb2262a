package graft.cli.measuring;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.comparison.local.OwnProgram;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Results;
import graft.comparison.sharing.Part;
import graft.comparison.sharing.Scope;
import graft.comparison.sharing.SharingBench;
import graft.comparison.sharing.SharingReport;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code graft bench sharing}: measures how guests share a GPU. */
@Command(
    name = "sharing",
    mixinStandardHelpOptions = true,
    header = "Measures how guests share a GPU.",
    description = {
      "",
      "Starts a private server and runs the programs of several guests at the same time: with"
          + " different shares and kernels of different lengths (shares), with equal shares and"
          + " more and more guests (sessions), short requests beside a best-effort guest that keeps"
          + " kernels queued (latency), a guest with one session beside a guest with ten"
          + " (one-against-many), and a guest of each class (classes). On a GPU the same programs"
          + " also run on this machine's driver, in the same run; the software device has no native"
          + " driver.",
      "",
      "Prints a table with Graft's goals beside the figures. A missed goal is no failure of the"
          + " command. GPU time is that of the kernels that finished; the length of kernels is"
          + " calibrated at the beginning, so that the GPU must not be used by others.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft bench sharing --device gpu --folder results",
      "  graft bench sharing --device software --quick",
      "  graft bench sharing --device gpu:1 --parts shares,latency --kernels 50,5000 --seconds 10",
      "  graft bench sharing --device gpu --parts sessions --sessions 1,16,64 --output json"
    })
final class BenchSharingCommand implements Callable<Integer> {
  private static final double LEAST_SECONDS = 0.2;
  private static final double MOST_SECONDS = 600;
  private static final int MOST_SESSIONS = 64;
  private static final long LONGEST_KERNEL = 1_000_000;

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
      defaultValue = "shm",
      description = "shm, unix, tcp, tls or rdma (default: ${DEFAULT-VALUE}).")
  String channel;

  @Option(
      names = "--parts",
      paramLabel = "PART",
      split = ",",
      converter = PartConverter.class,
      description =
          "shares, sessions, latency, one-against-many or classes; several between commas (default:"
              + " all).")
  Set<Part> parts = EnumSet.allOf(Part.class);

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "4",
      description = "For how long each case is measured (default: ${DEFAULT-VALUE}).")
  double seconds;

  @Option(names = "--quick", description = "Fewer kernel lengths, and 4 sessions at most.")
  boolean quick;

  @Option(
      names = "--kernels",
      paramLabel = "MICROSECONDS",
      split = ",",
      description =
          "The GPU times of the kernels in the parts shares and latency (default: 5 to 50000 on a"
              + " GPU, 500 to 50000 on the software device).")
  Set<Long> kernels = new LinkedHashSet<>();

  @Option(
      names = "--sessions",
      paramLabel = "N",
      split = ",",
      description = "The numbers of guests in the part sessions (default: 1,2,4,8,16).")
  Set<Integer> sessions = new LinkedHashSet<>();

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      description =
          "Write there sharing.md, sharing.json, the samples as results.jsonl, and drawings as"
              + " shares.svg, sessions.svg and latency.svg.")
  Path folder;

  @Override
  public Integer call() throws Exception {
    PrivateServer.checkChannel(channel);
    boolean software = device.equals("software");
    Scope scope = scope(software);
    Path client = ClientFolder.existing();
    Results results;
    try (PrivateServer server = PrivateServer.start(device, null, isTcp())) {
      results =
          new SharingBench(
                  scope,
                  OwnProgram.path(),
                  server,
                  channel,
                  client,
                  software ? Optional.empty() : Optional.of(ownDriver()),
                  this::report)
              .measure();
    }
    SharingReport report = new SharingReport(scope, results, channel);
    output.say(report.table());
    output.result(report.tree(machine()));
    if (folder != null) {
      List<String> files = report.save(folder, machine());
      report("wrote " + String.join(", ", files) + " in " + folder);
    }
    return ExitCode.OK;
  }

  private boolean isTcp() {
    return !channel.equals("shm") && !channel.equals("unix");
  }

  private Scope scope(boolean software) {
    if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) {
      throw new GraftException("--seconds must be from 0.2 to 600", "");
    }
    if (kernels.stream().anyMatch(k -> k < 1 || k > LONGEST_KERNEL)) {
      throw new GraftException("--kernels must be from 1 to 1000000 microseconds", "");
    }
    if (sessions.stream().anyMatch(n -> n < 1 || n > MOST_SESSIONS)) {
      throw new GraftException("--sessions must be from 1 to 64", "");
    }
    Scope scope = Scope.of(parts, software, quick, seconds);
    if (!kernels.isEmpty()) {
      scope = scope.withKernels(List.copyOf(kernels));
    }
    return sessions.isEmpty() ? scope : scope.withCounts(List.copyOf(sessions));
  }

  /** The environment of native processes, which use the GPU that the server serves. */
  private ProgramEnvironment ownDriver() {
    ProgramEnvironment machine = ProgramEnvironment.ofThisMachine();
    return device.contains(":")
        ? machine.with("CUDA_VISIBLE_DEVICES", device.substring(device.indexOf(':') + 1))
        : machine;
  }

  private void report(String line) {
    output.err().println(line);
    output.err().flush();
  }

  private Map<String, String> machine() {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("date", LocalDate.now(ZoneOffset.UTC).toString());
    machine.put("device", device);
    machine.put("channel", channel);
    machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    machine.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    return machine;
  }

  /** Reads the name of a part. */
  static final class PartConverter implements ITypeConverter<Part> {
    @Override
    public Part convert(String text) {
      for (Part part : Part.values()) {
        if (part.toString().equals(text)) {
          return part;
        }
      }
      throw new TypeConversionException("'" + text + "' is no part of the measurement");
    }
  }
}
