package graft.cli;

import graft.cli.deployment.ApplyCommand;
import graft.cli.deployment.AttachCommand;
import graft.cli.deployment.DemoCommand;
import graft.cli.deployment.DestroyCommand;
import graft.cli.deployment.DetachCommand;
import graft.cli.deployment.DiffCommand;
import graft.cli.deployment.ExportCommand;
import graft.cli.deployment.InitCommand;
import graft.cli.deployment.InventoryCommand;
import graft.cli.deployment.ListCommand;
import graft.cli.deployment.PlanCommand;
import graft.cli.deployment.RestartCommand;
import graft.cli.deployment.SchemaCommand;
import graft.cli.deployment.StartCommand;
import graft.cli.deployment.StatusCommand;
import graft.cli.deployment.StopCommand;
import graft.cli.deployment.UndoCommand;
import graft.cli.deployment.ValidateCommand;
import graft.cli.guest.AdoptCommand;
import graft.cli.guest.BundlesCommand;
import graft.cli.guest.ConsoleCommand;
import graft.cli.guest.CpCommand;
import graft.cli.guest.ExecCommand;
import graft.cli.guest.ForgetCommand;
import graft.cli.guest.ImageCommand;
import graft.cli.guest.RevokeCommand;
import graft.cli.guest.RotateCommand;
import graft.cli.guest.ShellCommand;
import graft.cli.guest.SnapshotCommand;
import graft.cli.guest.VerifyCommand;
import graft.cli.host.CdiCommand;
import graft.cli.host.DoctorCommand;
import graft.cli.host.InspectCommand;
import graft.cli.host.RunCommand;
import graft.cli.host.ServeCommand;
import graft.cli.host.ServerAddress;
import graft.cli.hosts.OnHostCommand;
import graft.cli.measuring.BenchCommand;
import graft.cli.measuring.CompareCommand;
import graft.cli.measuring.FidelityCommand;
import graft.cli.measuring.TraceCommand;
import graft.cli.session.KillCommand;
import graft.cli.session.LogsCommand;
import graft.cli.session.SessionsCommand;
import graft.cli.session.TopCommand;
import graft.cli.slurm.SlurmCommand;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Logging;
import graft.cli.terminal.Version;
import graft.cli.terminal.WatchedOutput;
import graft.cli.ui.UiCommand;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.common.values.TimeSpan;
import graft.common.values.UserName;
import graft.comparison.link.LinkRate;
import graft.comparison.link.RoundTrip;
import graft.deployment.descriptor.gpu.LibraryPath;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.snapshot.SnapshotName;
import graft.guests.bundle.PackageName;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code graft}: the command line. */
@Command(
    name = "graft",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    header = "Gives virtual machines GPUs that they do not own.",
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "",
      "A descriptor says which guests a host runs and which GPU each of them uses. graft plans and"
          + " applies it through libvirt, puts the client into the guests, and serves the GPU, so"
          + " that unmodified CUDA programs run there.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft init lab.yaml             write a descriptor to begin with",
      "  graft validate lab.yaml         check it",
      "  graft plan lab.yaml             see what would change",
      "  graft apply lab.yaml            change it",
      "  graft exec lab.yaml alice -- /usr/local/bin/vectorAdd",
      "  graft destroy lab.yaml          remove everything again",
      "  graft run --device software -- ./vectorAdd",
      "",
      "In a checkout of the sources there is also (see ./graft test --help and ./graft lab"
          + " --help):",
      "  ./graft build, ./graft test     build it, run its tests",
      "  ./graft lab COMMAND             a host with SR-IOV in QEMU, for tests without hardware",
      "",
      "Exit codes:",
      "  0  done, or nothing to do",
      "  1  failed; the steps that were begun have been undone",
      "  2  the command line is wrong",
      "  3  the descriptor is wrong",
      "  4  this host does not meet the requirements; nothing was changed",
      "  5  interrupted or incomplete: apply continues, undo reverts it",
      "  6  another graft works on the same deployment",
      "  7  status, diff: the host differs; apply PLAN: it is not as it was planned",
      "  130  interrupted",
      "  run, exec and shell end with the program's exit code, or 125 if they could not start it.",
      "",
      "Environment:",
      "  GRAFT_STATE_DIR   where state and journals are kept (default /var/lib/graft for root, else"
          + " ~/.local/state/graft)",
      "  GRAFT_CLIENT_DIR  where the client libraries are (default: beside this program)"
    })
public final class Main implements Runnable {
  /** Commands of people who wait, which ask libvirt in nearly all deployments. */
  private static final Set<String> ASK_LIBVIRT =
      Set.of("plan", "diff", "apply", "status", "list", "destroy", "undo", "start", "stop");

  /** The names of all commands, in the order of the help. */
  private static final List<String> COMMANDS =
      List.of(
          "init",
          "validate",
          "inspect",
          "doctor",
          "plan",
          "diff",
          "apply",
          "status",
          "list",
          "destroy",
          "start",
          "stop",
          "restart",
          "undo",
          "attach",
          "detach",
          "exec",
          "shell",
          "cp",
          "console",
          "snapshot",
          "verify",
          "rotate",
          "revoke",
          "adopt",
          "forget",
          "sessions",
          "top",
          "ui",
          "kill",
          "logs",
          "inventory",
          "bundles",
          "image",
          "run",
          "serve",
          "compare",
          "bench",
          "trace",
          "fidelity",
          "demo",
          "cdi",
          "slurm",
          "export",
          "schema",
          "on-host",
          "completion",
          "help");

  @Spec CommandSpec spec;

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] args) {
    Logging.quiet();
    if (args.length > 0 && ASK_LIBVIRT.contains(args[0])) {
      LibvirtLibrary.loadAhead(args[0].equals("status"));
    }
    System.exit(run(args));
  }

  /** Runs a command and returns its exit code. */
  static int run(String... args) {
    return run(new FileOutputStream(FileDescriptor.out), System.err, args);
  }

  /** As {@link #run(String...)}; the streams are standard output and standard error. */
  static int run(OutputStream standardOutput, OutputStream standardError, String... args) {
    WatchedOutput out = new WatchedOutput(standardOutput);
    PrintWriter printed = new PrintWriter(out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(standardError, true, StandardCharsets.UTF_8);
    int code = commandLine(args).setOut(printed).setErr(err).execute(args);
    printed.flush();
    if (code != ExitCode.OK || out.failure().isEmpty()) {
      return code;
    }
    String why = String.valueOf(out.failure().get().getMessage());
    if (!why.contains("Broken pipe")) { // else the reader has seen enough, as head has
      err.println("graft: standard output could not be written: " + why);
    }
    return ExitCode.FAILED;
  }

  /**
   * The command line for these arguments. Only the command that they name is loaded: reading the
   * annotations of all commands takes longer than most commands run.
   */
  static CommandLine commandLine(String... args) {
    CommandLine line = new CommandLine(new Main());
    boolean one = args.length > 0 && COMMANDS.contains(args[0]) && !needsAll(args);
    for (String name : one ? List.of(args[0]) : COMMANDS) {
      line.addSubcommand(name, command(name));
    }
    for (CommandLine command : line.getSubcommands().values()) {
      command.registerConverter(Endpoint.class, saying(Endpoint::parse));
      command.registerConverter(ServerAddress.class, saying(ServerAddress::parse));
      command.registerConverter(MemorySize.class, saying(MemorySize::parse));
      command.registerConverter(PortName.class, saying(PortName::parse));
      command.registerConverter(LibraryPath.class, saying(LibraryPath::parse));
      command.registerConverter(RoundTrip.class, saying(RoundTrip::parse));
      command.registerConverter(LinkRate.class, saying(LinkRate::parse));
      command.registerConverter(TimeSpan.class, saying(TimeSpan::parse));
      command.registerConverter(UserName.class, saying(UserName::parse));
      command.registerConverter(PackageName.class, saying(PackageName::parse));
      command.registerConverter(SnapshotName.class, saying(SnapshotName::parse));
    }
    line.setUsageHelpAutoWidth(true);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setExecutionExceptionHandler(new Errors());
    line.setParameterExceptionHandler(new UsageErrors());
    return line;
  }

  /** Whether the command looks at other commands. */
  private static boolean needsAll(String... args) {
    return switch (args[0]) {
      case "completion", "help" -> true;
      case "schema" -> Stream.of(args).anyMatch(word -> word.startsWith("--command"));
      default -> false;
    };
  }

  private static <T> ITypeConverter<T> saying(Function<String, T> parser) {
    return new Saying<>(parser);
  }

  /**
   * A converter whose error message is the parser's own. A lambda would do, but Java leaves an
   * interface of such an old class file out of the class archive if a lambda implements it, and
   * with it all of picocli's converters.
   */
  private static final class Saying<T> implements ITypeConverter<T> {
    private final Function<String, T> parser;

    Saying(Function<String, T> parser) {
      this.parser = parser;
    }

    @Override
    public T convert(String text) {
      try {
        return parser.apply(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Makes a command. Suppliers of all commands would load the classes of all. */
  private static Object command(String name) {
    return switch (name) {
      case "init" -> new InitCommand();
      case "validate" -> new ValidateCommand();
      case "inspect" -> new InspectCommand();
      case "doctor" -> new DoctorCommand();
      case "plan" -> new PlanCommand();
      case "diff" -> new DiffCommand();
      case "apply" -> new ApplyCommand();
      case "status" -> new StatusCommand();
      case "list" -> new ListCommand();
      case "destroy" -> new DestroyCommand();
      case "start" -> new StartCommand();
      case "stop" -> new StopCommand();
      case "restart" -> new RestartCommand();
      case "undo" -> new UndoCommand();
      case "attach" -> new AttachCommand();
      case "detach" -> new DetachCommand();
      case "exec" -> new ExecCommand();
      case "shell" -> new ShellCommand();
      case "cp" -> new CpCommand();
      case "console" -> new ConsoleCommand();
      case "snapshot" -> new SnapshotCommand();
      case "verify" -> new VerifyCommand();
      case "rotate" -> new RotateCommand();
      case "revoke" -> new RevokeCommand();
      case "adopt" -> new AdoptCommand();
      case "forget" -> new ForgetCommand();
      case "sessions" -> new SessionsCommand();
      case "top" -> new TopCommand();
      case "ui" -> new UiCommand();
      case "kill" -> new KillCommand();
      case "logs" -> new LogsCommand();
      case "inventory" -> new InventoryCommand();
      case "bundles" -> new BundlesCommand();
      case "image" -> new ImageCommand();
      case "run" -> new RunCommand();
      case "serve" -> new ServeCommand();
      case "compare" -> new CompareCommand();
      case "bench" -> new BenchCommand();
      case "trace" -> new TraceCommand();
      case "fidelity" -> new FidelityCommand();
      case "demo" -> new DemoCommand();
      case "cdi" -> new CdiCommand();
      case "slurm" -> new SlurmCommand();
      case "export" -> new ExportCommand();
      case "schema" -> new SchemaCommand();
      case "on-host" -> new OnHostCommand(Main::commandLine);
      case "completion" -> new CompletionCommand();
      case "help" -> new CommandLine.HelpCommand(); // see Saying
      default -> throw new IllegalArgumentException("there is no command '" + name + "'");
    };
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command? graft --help lists them");
  }
}
