package graft.deployment.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Finds and stops a {@code graft serve} or {@code graft-usernet serve} process that another process
 * started, or the {@code graft-starter} that a server runs under.
 *
 * <p>The process is identified by the pid file that its command line names, so that another program
 * with the same process ID is never mistaken for it.
 */
public final class ServerProcess {
  /** The option of {@code graft serve} that names the pid file. */
  public static final String PID_FILE = "--pid-file";

  private static final String STARTER = "/graft-starter";
  private static final Duration GRACE = Duration.ofSeconds(15);

  private ServerProcess() {}

  /** The process whose ID is in the pid file, if it runs. */
  public static Optional<ProcessHandle> recorded(Path pidFile) {
    try {
      long pid = Long.parseLong(Files.readString(pidFile).strip());
      return isServer(Path.of("/proc", String.valueOf(pid)), pidFile)
          ? ProcessHandle.of(pid)
          : Optional.empty();
    } catch (IOException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * The process that was started with the pid file, even if it has not written it yet. Examines all
   * processes.
   */
  public static Optional<ProcessHandle> find(Path pidFile) {
    Optional<ProcessHandle> recorded = recorded(pidFile);
    if (recorded.isPresent()) {
      return recorded;
    }
    return ProcessHandle.allProcesses()
        .filter(p -> isServer(Path.of("/proc", String.valueOf(p.pid())), pidFile))
        .findFirst();
  }

  private static boolean isServer(Path process, Path pidFile) {
    try {
      byte[] raw = Files.readAllBytes(process.resolve("cmdline"));
      List<String> words = List.of(new String(raw, StandardCharsets.UTF_8).split("\0", -1));
      int option = words.indexOf(PID_FILE);
      return option >= 0
          && (words.contains("serve") || words.get(0).endsWith(STARTER))
          && option + 1 < words.size()
          && words.get(option + 1).equals(pidFile.toString());
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  /** Stops the process, if it runs: first by SIGTERM, then by SIGKILL. */
  public static void stop(Path pidFile) throws IOException, InterruptedException {
    Optional<ProcessHandle> running = find(pidFile);
    if (running.isPresent()) {
      ProcessHandle process = running.get();
      process.destroy();
      if (!ended(process, pidFile)) {
        process.destroyForcibly();
        ended(process, pidFile);
      }
    }
    Files.deleteIfExists(pidFile);
  }

  /**
   * Waits for its end. A process whose parent does not collect its exit code stays as a zombie,
   * which Java reports as alive. A zombie has no command line, so that it is not mistaken for the
   * server.
   */
  private static boolean ended(ProcessHandle process, Path pidFile) throws InterruptedException {
    long deadline = System.nanoTime() + GRACE.toNanos();
    while (isServer(Path.of("/proc", String.valueOf(process.pid())), pidFile)) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      try {
        process.onExit().get(50, TimeUnit.MILLISECONDS);
      } catch (TimeoutException | ExecutionException e) {
        // look again
      }
    }
    return true;
  }
}
