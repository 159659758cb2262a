package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ConsolePrinter;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.observe.Connections;
import graft.hypervisors.libvirt.ConsoleLog;
import graft.hypervisors.libvirt.Guest;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft console}: shows the output on a guest's console. */
@Command(
    name = "console",
    mixinStandardHelpOptions = true,
    header = "Shows what a guest prints on its console.",
    description = {
      "",
      "The console is written to a file from the start of the guest, so that nothing of its boot is"
          + " lost. It takes no input; for a shell use graft shell, or SSH.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft console lab alice", "  graft console lab alice --follow"})
public final class ConsoleCommand implements Callable<Integer> {
  private static final int PAUSE_MILLIS = 200;

  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Option(
      names = {"-n", "--lines"},
      defaultValue = "40",
      description = "How many lines from the end to show (default: ${DEFAULT-VALUE}).")
  int lines;

  @Option(
      names = {"-f", "--follow"},
      description = "Keep printing new lines, until the guest is off or Ctrl-C.")
  boolean follow;

  @Override
  public Integer call() throws Exception {
    AppliedGuest reached = AppliedGuest.of(Deployments.journal(target.state()), guest);
    try (Connections connections = new Connections()) {
      Guest domain = reached.domain(connections);
      ConsoleLog log =
          reached
              .console()
              .orElseThrow(
                  () ->
                      new GraftException(
                          "what '" + guest + "' prints is not kept in a file",
                          "start it by graft apply; under Xen, xenconsoled needs --log=guest too"));
      long shown = Files.exists(log.path()) ? Files.size(log.path()) : 0;
      List<String> tail = log.tail(lines);
      tail.forEach(output::say);
      output.result(Map.of("guest", guest, "lines", tail));
      ConsolePrinter printer = new ConsolePrinter();
      while (follow && domain.state().isActive()) {
        shown = more(log.path(), shown, printer);
        Thread.sleep(PAUSE_MILLIS);
      }
      return ExitCode.OK;
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
