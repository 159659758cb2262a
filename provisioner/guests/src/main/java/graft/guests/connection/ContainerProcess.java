package graft.guests.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** A program in a container, started by nsenter(1) from the host. */
final class ContainerProcess {
  private static final Path PROC = Path.of("/proc");

  /**
   * Moves itself to the container's cgroups, so that the container's limits hold for the program,
   * and then enters its namespaces. The words are the number of files, the files, and nsenter's.
   */
  private static final String ENTER =
      "n=$1; shift; while [ \"$n\" -gt 0 ]; do echo $$ >\"$1\" || exit 125; shift; n=$((n - 1));"
          + " done; exec nsenter \"$@\"";

  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          "HOME", "/root",
          "USER", "root",
          "LANG", "C.UTF-8");

  private final Process process;

  private ContainerProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts a program.
   *
   * @param controller the number of libvirt's process that holds the container
   * @throws IOException if the container has ended
   */
  static ContainerProcess start(int controller, List<String> words) throws IOException {
    long init = init(controller);
    List<String> cgroups = Cgroups.of(init, PROC);
    List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", ENTER, "sh"));
    command.add(String.valueOf(cgroups.size()));
    command.addAll(cgroups);
    command.addAll(
        List.of("--target", String.valueOf(init), "--all", "--setuid", "0", "--setgid", "0", "--"));
    command.addAll(words);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(ENVIRONMENT);
    return new ContainerProcess(builder.start());
  }

  /** The child of libvirt's process that is number 1 in a process namespace of its own. */
  private static long init(int controller) throws IOException {
    List<ProcessHandle> children =
        ProcessHandle.of(controller).map(handle -> handle.children().toList()).orElse(List.of());
    for (ProcessHandle child : children) {
      for (String line : Files.readAllLines(PROC.resolve(child.pid() + "/status"))) {
        // "NSpid:", the number here, the numbers in the namespaces within
        String[] numbers = line.split("\\s+", -1);
        if (numbers[0].equals("NSpid:")
            && numbers.length > 2
            && numbers[numbers.length - 1].equals("1")) {
          return child.pid();
        }
      }
    }
    throw new IOException("its first process has ended");
  }

  /**
   * Passes input and output on until the program has ended.
   *
   * @return the exit code; empty if it did not end in time, and was ended
   */
  OptionalInt finish(InputStream input, OutputStream output, OutputStream errors, Duration timeout)
      throws InterruptedException {
    pump(input, process.getOutputStream(), true);
    Thread out = pump(process.getInputStream(), output, false);
    Thread err = pump(process.getErrorStream(), errors, false);
    boolean ended = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    if (!ended) {
      stop();
    }
    // A program that it left in the background may hold the pipes open.
    out.join(Duration.ofSeconds(2).toMillis());
    err.join(Duration.ofSeconds(2).toMillis());
    return ended ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
  }

  private static Thread pump(InputStream from, OutputStream to, boolean close) {
    Thread thread =
        new Thread(
            () -> {
              try {
                from.transferTo(to);
                to.flush();
              } catch (IOException e) {
                // One of the ends has gone.
              } finally {
                if (close) {
                  close(to);
                }
              }
            },
            "graft-container-pump");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void close(OutputStream stream) {
    try {
      stream.close();
    } catch (IOException e) {
      // The program has ended.
    }
  }

  /** Ends the program: nsenter's child is in the container, and does not end with nsenter. */
  void stop() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
