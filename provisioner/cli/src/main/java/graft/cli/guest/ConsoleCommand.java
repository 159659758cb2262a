package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ConsolePrinter;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Interruption;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.Question;
import graft.common.GraftException;
import graft.common.values.TimeSpan;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.observe.Connections;
import graft.guests.connection.ConsoleSession;
import graft.guests.connection.ConsoleStream;
import graft.guests.connection.LocalTerminal;
import graft.hypervisors.libvirt.ConsoleLog;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft console}: a guest's console, on a terminal or as lines. */
@Prints(GuestForms.Console.class)
@Command(
    name = "console",
    mixinStandardHelpOptions = true,
    header = "Opens a guest's console, or shows what the guest has printed there.",
    description = {
      "",
      "On a terminal the console takes what is typed, until Ctrl-] or, at the beginning of a line,"
          + " ~. is typed; ~~ there is one tilde. The guest's bytes reach the terminal unchanged,"
          + " as on any console: a guest can change the terminal's title or colours.",
      "",
      "With --lines or --follow, with --output json, without a terminal, and for a guest that is"
          + " off, the command takes no input. It then shows the end of what the guest has printed"
          + " since its start, without control sequences.",
      "",
      "With --stdin and no terminal, the standard input is typed at the console. The command"
          + " ends once the input has ended and the console has been silent for --silence; what the"
          + " guest prints is shown without control sequences.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft console lab alice",
      "  graft console lab alice --follow",
      "  echo 'dmesg | tail' | graft console -i lab alice"
    })
public final class ConsoleCommand implements Callable<Integer> {
  private static final int PAUSE_MILLIS = 200;

  /** How long a guest may take to be off that says that it is shutting down. */
  private static final Duration STOPS = Duration.ofSeconds(30);

  /** How long a hypervisor may take to notice that a guest stops. */
  private static final Duration NOTICED = Duration.ofSeconds(2);

  private static final int LINES = 40;

  /** How many lines are shown before a terminal takes over. */
  private static final int LINES_BEFORE = 10;

  @Mixin Output output;
  @Mixin Target target;
  @Spec CommandSpec spec;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Option(
      names = {"-n", "--lines"},
      description = "Show this many lines from the end, and take no input (usually " + LINES + ").")
  Integer lines;

  @Option(
      names = {"-f", "--follow"},
      description = "Keep printing new lines, until the guest is off or Ctrl-C; take no input.")
  boolean follow;

  @Option(
      names = {"-i", "--stdin"},
      description = "Type this command's standard input at the console.")
  boolean stdin;

  @Option(
      names = "--force",
      description =
          "Open the console even if it is open elsewhere; it is closed there, unless the"
              + " guest is a container.")
  boolean force;

  @Option(
      names = "--silence",
      paramLabel = "TIME",
      defaultValue = "2s",
      description =
          "How long the console must be silent after the end of an input that is no"
              + " terminal (default: ${DEFAULT-VALUE}).")
  TimeSpan silence;

  @Override
  public Integer call() throws Exception {
    boolean shows = lines != null || follow || output.isJson();
    if (shows && (stdin || force)) {
      throw new ParameterException(
          spec.commandLine(),
          "--lines, --follow and --output json take no input: leave them out, or --stdin and"
              + " --force");
    }
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    try (Connections connections = new Connections()) {
      Guest domain = reached.domain(connections);
      boolean terminal = Question.canBeAsked();
      if (stdin || force || (!shows && terminal && domain.state().isActive())) {
        ConsoleStream console = reached.openConsole(connections, force);
        return terminal ? onTerminal(reached, domain, console) : typed(domain, console);
      }
      show(reached, domain);
      return ExitCode.OK;
    }
  }

  private int onTerminal(AppliedGuest reached, Guest domain, ConsoleStream console)
      throws Exception {
    reached.console().ifPresent(this::before);
    output.say("-- the console of '" + guest + "'; Ctrl-] leaves it --");
    ConsoleSession.End end;
    try (LocalTerminal terminal = LocalTerminal.open()) {
      end = joined(domain, ConsoleSession.onTerminal(console, terminal));
    } finally {
      console.close();
    }
    output.say("");
    return ended(domain, end);
  }

  /** What was printed before; a log that cannot be read does not keep anybody from the console. */
  private void before(ConsoleLog log) {
    try {
      log.tail(LINES_BEFORE).forEach(output::say);
    } catch (HypervisorException e) {
      output.say(e.getMessage());
    }
  }

  private int typed(Guest domain, ConsoleStream console) throws Exception {
    ConsolePrinter printer = new ConsolePrinter();
    PrintWriter out = output.out();
    OutputStream shown =
        new OutputStream() {
          @Override
          public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int from, int count) {
            out.print(printer.next(Arrays.copyOfRange(bytes, from, from + count)));
          }

          @Override
          public void flush() throws IOException {
            out.flush();
            if (out.checkError()) {
              throw new IOException("the output cannot be written");
            }
          }
        };
    ConsoleSession.End end =
        joined(domain, ConsoleSession.of(console, System.in, shown, silence.toDuration()));
    return ended(domain, end);
  }

  /** A guest that stops may break a call before the console ends. */
  private static ConsoleSession.End joined(Guest domain, ConsoleSession session) throws Exception {
    try {
      return Interruption.during(session::stop, session::await);
    } catch (HypervisorException e) {
      if (domain.state().isActive()) {
        throw e;
      }
      return ConsoleSession.End.CONSOLE;
    }
  }

  private int ended(Guest domain, ConsoleSession.End end) throws InterruptedException {
    if (end == ConsoleSession.End.LEFT) {
      return ExitCode.OK;
    }
    GuestState state = settled(domain);
    if (state.isActive()) {
      throw new GraftException(
          "the console of '" + guest + "' was closed while the guest is " + state.words(),
          "another program has taken it, or the guest was started again: open it again");
    }
    output.err().println("the guest '" + guest + "' is " + state.words());
    output.err().flush();
    return ExitCode.OK;
  }

  /** The console of a guest that stops is closed before the hypervisor says that it is off. */
  private static GuestState settled(Guest domain) throws InterruptedException {
    long start = System.nanoTime();
    GuestState state = domain.state();
    while (state.isActive()
        && System.nanoTime() - start
            < (state == GuestState.SHUTTING_DOWN ? STOPS : NOTICED).toNanos()) {
      Thread.sleep(PAUSE_MILLIS);
      state = domain.state();
    }
    return state;
  }

  private void show(AppliedGuest reached, Guest domain) throws Exception {
    ConsoleLog log =
        reached
            .console()
            .orElseThrow(
                () ->
                    new GraftException(
                        "what '" + guest + "' prints is not kept in a file",
                        "start it by graft apply; under Xen, xenconsoled needs --log=guest too"));
    long shown = Files.exists(log.path()) ? Files.size(log.path()) : 0;
    List<String> tail = log.tail(lines == null ? LINES : lines);
    tail.forEach(output::say);
    output.result(Map.of("guest", guest, "lines", tail));
    ConsolePrinter printer = new ConsolePrinter();
    while (follow && domain.state().isActive()) {
      shown = more(log.path(), shown, printer);
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  /** Prints the new lines. A restarted guest has a new file, which is printed from its start. */
  private long more(Path log, long shown, ConsolePrinter printer) throws Exception {
    long size = Files.exists(log) ? Files.size(log) : 0;
    long from = size < shown ? 0 : shown;
    if (size > from) {
      try (InputStream in = Files.newInputStream(log)) {
        in.skipNBytes(from);
        PrintWriter out = output.out();
        out.print(printer.next(in.readNBytes((int) Math.min(size - from, 1 << 20))));
        out.flush();
      }
    }
    return Math.min(size, from + (1 << 20));
  }
}
