package graft.deployment;

import graft.common.GraftException;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.state.ProcessMemory;
import graft.deployment.state.ServerProcess;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.host.HostServer;
import graft.guests.connection.Ended;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Runs the first program among each guest's files, in all guests at once. */
public final class DemoRun {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final JournalState journal;
  private final List<Guest> guests;
  private final Consumer<String> lines;
  private long serverBytes;

  /**
   * @param lines receives the output of the programs, line by line
   */
  public DemoRun(Workspace workspace, Consumer<String> lines) {
    this.journal = workspace.journal();
    this.guests = workspace.file().descriptor().guests();
    this.lines = lines;
  }

  /** The peak memory of the deployment's servers while the programs ran. */
  public long serverBytes() {
    return serverBytes;
  }

  /** Runs the programs; a row for each guest, with {@code result} {@code ok} or why not. */
  public List<Map<String, Object>> run() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, guests.size()));
    try (Connections connections = new Connections()) {
      List<Future<Map<String, Object>>> running = new ArrayList<>();
      for (Guest guest : guests) {
        running.add(pool.submit(() -> run(connections, guest)));
      }
      List<Map<String, Object>> rows = new ArrayList<>();
      for (Future<Map<String, Object>> row : running) {
        while (!row.isDone()) {
          serverBytes = Math.max(serverBytes, memoryOfServers());
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

  private Map<String, Object> run(Connections connections, Guest guest) {
    String name = guest.name().text();
    String program = program(guest);
    Ended ended =
        AppliedGuest.of(journal, name).open(connections).run(List.of(program), new byte[0], LIMIT);
    String said = ended.said();
    synchronized (this) {
      said.lines().forEach(line -> lines.accept("guest " + name + ": " + line));
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", name);
    row.put("bootSeconds", result(name, "ready").get(AwaitGuest.BOOT_SECONDS));
    row.put("program", program.substring(program.lastIndexOf('/') + 1));
    row.put("device", result(name, "verify").get("device"));
    row.put("result", ended.succeeded() ? "ok" : "failed: " + said);
    return row;
  }

  private long memoryOfServers() {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(HostServer.class::isInstance)
        .flatMap(step -> ServerProcess.recorded(((HostServer) step).pidFile()).stream())
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

  private Map<String, Object> result(String guest, String step) {
    return journal.entry("guest/" + guest + "/" + step).map(Entry::result).orElse(Map.of());
  }
}
