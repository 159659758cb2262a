package graft.comparison.sharing;

import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.State;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A running {@code graft-workload sharing}: it says {@code ready}, and measures once it is told to
 * begin. It is killed at its time limit and by {@link #close}.
 */
final class LoadProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  /** The last line that is no measurement: why the program failed, if it has. */
  private String lastWords = "it printed nothing";

  /** The last complaint of Graft's client; empty if there was none. */
  private String complaint = "";

  /**
   * Starts the program.
   *
   * @param limit the longest that it may run
   */
  LoadProcess(Path program, List<String> options, ProgramEnvironment environment, Duration limit)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(program.toString(), "sharing"));
    command.addAll(options);
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    environment.applyTo(builder.environment());
    process = builder.start();
    output = process.inputReader();
    CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS)
        .execute(process.toHandle()::destroyForcibly); // the output stays readable
  }

  /** Waits until the program could begin; returns false if it ended instead. */
  boolean awaitReady() throws IOException {
    String line = output.readLine();
    while (line != null && !line.equals("ready")) {
      listen(line);
      line = output.readLine();
    }
    return line != null;
  }

  /** Tells the program when to begin, in seconds since 1970. */
  void begin(double start) {
    try {
      process.outputWriter().write("begin " + start + "\n");
      process.outputWriter().flush();
    } catch (IOException e) {
      lastWords = "it ended before it was told to begin"; // and result() is empty
    }
  }

  /** Waits for the end of the program and returns what it measured; empty if it failed. */
  Optional<Measurement> result() throws IOException, InterruptedException {
    List<Measurement> found = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      List<Measurement> printed = Results.printed(line);
      found.addAll(printed);
      if (printed.isEmpty()) {
        listen(line);
      }
    }
    return process.waitFor() == 0
        ? found.stream().filter(m -> m.state() == State.WARM).findFirst()
        : Optional.empty();
  }

  private void listen(String line) {
    if (line.startsWith("graft: ")) {
      complaint = " (" + line + ")";
    } else {
      lastWords = line;
    }
  }

  /** What the program said last, and what the client said last. */
  String lastWords() {
    return lastWords + complaint;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
