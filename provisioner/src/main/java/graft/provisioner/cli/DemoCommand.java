package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.descriptor.guest.Guest;
import graft.provisioner.descriptor.guest.SetupFile;
import graft.provisioner.journal.Entry;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.plan.Plan;
import graft.provisioner.reach.Ended;
import graft.provisioner.state.ProcessMemory;
import graft.provisioner.state.ServerProcess;
import graft.provisioner.state.SetupLock;
import graft.provisioner.step.guest.AwaitGuest;
import graft.provisioner.step.host.GraftCommand;
import graft.provisioner.step.host.StartServer;
import graft.provisioner.values.Seconds;
import graft.provisioner.values.TimeSpan;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft demo}: the ordinary commands, one after the other, on an example. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    header =
        "Shows it all: two guests without a GPU run a CUDA program on one that the host serves.",
    description = {
      "",
      "Plans and applies the example, runs its program in all guests at the same time, shows the"
          + " status, and takes everything away again. The launcher first installs and builds what"
          + " is missing.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft demo",
      "  graft demo --keep            leave the guests for graft exec and graft status",
      "  graft demo --output json     ends with one JSON object"
    })
final class DemoCommand implements Callable<Integer> {
  private static final TimeSpan PROGRAM_TIME = new TimeSpan(300);

  @Mixin Output output;

  @Parameters(
      arity = "0..1",
      paramLabel = "DESCRIPTOR",
      description = "Another example; each guest runs the first program that it is given.")
  Path descriptor;

  @Option(names = "--keep", description = "Leave everything as it is at the end.")
  boolean keep;

  @Option(
      names = {"-y", "--yes"},
      description = "For the launcher: install what is missing without asking.")
  boolean yes;

  private double planSeconds;
  private long serverBytes;

  @Override
  public Integer call() throws Exception {
    long start = System.nanoTime();
    List<Map<String, Object>> rows;
    try (Workspace workspace = new Workspace(file())) {
      try {
        rows = applyAndRun(workspace);
      } finally {
        if (!keep) {
          takeAway(workspace);
        }
      }
    }
    double seconds = Seconds.since(start);
    table(rows);
    output.say(
        String.format(
            Locale.ROOT,
            "graft plan %.2f s, the server with %d sessions at most %d MB (PSS, its workers"
                + " included), %.1f s in all",
            planSeconds,
            rows.size(),
            serverBytes / 1_000_000,
            seconds));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guests", rows);
    tree.put("planSeconds", planSeconds);
    tree.put("serverBytes", serverBytes);
    tree.put("seconds", seconds);
    output.result(tree);
    boolean well = rows.stream().allMatch(row -> "ok".equals(row.get("result")));
    return well ? ExitCode.OK : ExitCode.FAILED;
  }

  private Path file() {
    if (descriptor != null) {
      return descriptor;
    }
    String home = System.getProperty("graft.home", "");
    return Path.of(home.isEmpty() ? "." : home).resolve("examples/demo.yaml");
  }

  private List<Map<String, Object>> applyAndRun(Workspace workspace) throws Exception {
    heading("plan");
    plan();
    heading("apply");
    long start = System.nanoTime();
    Plan applied =
        SetupLock.holding(workspace.state(), () -> ApplyCommand.apply(workspace, false, output));
    output.say(
        applied.isEmpty()
            ? "nothing to do"
            : String.format(
                Locale.ROOT,
                "%d steps done in %.1f s",
                applied.actions().size(),
                Seconds.since(start)));
    heading("run");
    List<Map<String, Object>> rows = run(workspace);
    heading("status");
    output.say(
        new StatusReport(workspace.journal(), workspace.connections()).text().stripTrailing());
    return rows;
  }

  /** As the shell does it, so that its time is the one that a user waits. */
  private void plan() throws Exception {
    List<String> command = GraftCommand.shell(List.of("plan", file().toString()));
    long start = System.nanoTime();
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    planSeconds = Seconds.since(start);
    output.say(said.stripTrailing());
    if (code != ExitCode.OK) {
      throw new GraftException(
          "graft plan ended with exit code " + code, "mend what it says, then try again");
    }
  }

  /** Starts the program in all guests at the same time. */
  private List<Map<String, Object>> run(Workspace workspace) throws Exception {
    JournalState journal = workspace.journal();
    List<Guest> guests = workspace.file().descriptor().guests();
    ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, guests.size()));
    try (Connections connections = new Connections()) {
      List<Future<Map<String, Object>>> running = new ArrayList<>();
      for (Guest guest : guests) {
        running.add(pool.submit(() -> run(connections, journal, guest)));
      }
      List<Map<String, Object>> rows = new ArrayList<>();
      for (Future<Map<String, Object>> row : running) {
        while (!row.isDone()) {
          serverBytes = Math.max(serverBytes, serverBytes(journal));
          waitALittle(row);
        }
        rows.add(row.get());
      }
      return rows;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      pool.shutdown();
    }
  }

  private Map<String, Object> run(Connections connections, JournalState journal, Guest guest) {
    String name = guest.name().text();
    String program = program(guest);
    Ended ended =
        GuestReach.of(journal, name)
            .open(connections)
            .run(List.of(program), new byte[0], PROGRAM_TIME.toDuration());
    String said = ended.said();
    synchronized (this) {
      said.lines().forEach(line -> output.say("guest " + name + ": " + line));
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", name);
    row.put("bootSeconds", result(journal, name, "ready").get(AwaitGuest.BOOT_SECONDS));
    row.put("program", program.substring(program.lastIndexOf('/') + 1));
    row.put("device", result(journal, name, "verify").get("device"));
    row.put("result", ended.succeeded() ? "ok" : "failed: " + said);
    return row;
  }

  private static long serverBytes(JournalState journal) {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(StartServer.class::isInstance)
        .flatMap(step -> ServerProcess.recorded(((StartServer) step).pidFile()).stream())
        .mapToLong(ProcessMemory::ofFamily)
        .sum();
  }

  private static void waitALittle(Future<?> row) throws InterruptedException {
    try {
      row.get(100, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // the caller looks again
    }
  }

  private static String program(Guest guest) {
    return guest.setup().files().stream()
        .filter(file -> (file.mode().bits() & 0111) != 0)
        .map(SetupFile::path)
        .findFirst()
        .orElseThrow(
            () ->
                new GraftException(
                    "the guest '" + guest.name() + "' is given no program to run",
                    "add one to its setup: {files: ...} with mode 0755"));
  }

  private static Map<String, Object> result(JournalState journal, String guest, String step) {
    return journal.entry("guest/" + guest + "/" + step).map(Entry::result).orElse(Map.of());
  }

  private void takeAway(Workspace workspace) throws Exception {
    heading("destroy");
    int code =
        new TakeBack(workspace.state(), Output.silent(output), "destroy")
            .run(JournalState::newestFirst);
    if (code != ExitCode.OK) {
      throw new GraftException(
          "the demo could not be taken away", "graft destroy " + workspace.state().setup());
    }
    output.say("everything is as it was");
  }

  private void heading(String command) {
    output.say("");
    output.say("== graft " + command);
  }

  private void table(List<Map<String, Object>> rows) {
    String form = "%-12s %15s  %-14s %-28s %s";
    output.say("");
    output.say(
        String.format(
            Locale.ROOT, form, "guest", "seconds to boot", "program", "device", "result"));
    for (Map<String, Object> row : rows) {
      output.say(
          String.format(
              Locale.ROOT,
              form,
              row.get("name"),
              row.get("bootSeconds"),
              row.get("program"),
              row.get("device"),
              row.get("result")));
    }
  }
}
