package graft.deployment.doctor;

import graft.common.GraftException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** The commands that fix what a doctor has found, and their execution without a shell. */
public final class Fixes {
  private Fixes() {}

  /** Runs a command to its end. */
  @FunctionalInterface
  public interface Runner {
    /**
     * Returns the exit code.
     *
     * @throws IOException if there is no such program
     */
    int run(List<String> command) throws IOException, InterruptedException;
  }

  /** Installs a package of Debian. */
  static List<String> install(String name) {
    return List.of("apt-get", "install", "--yes", name);
  }

  /** Starts libvirt's daemon, as this host starts services. */
  static List<List<String>> startLibvirt() {
    return Files.isDirectory(Path.of("/run/systemd/system"))
        ? List.of(List.of("systemctl", "start", "libvirtd"))
        : List.of(List.of("virtlogd", "-d"), List.of("libvirtd", "-d"));
  }

  /** Every command once, in the order of the findings. */
  public static List<List<String>> of(List<Finding> findings) {
    Set<List<String>> commands = new LinkedHashSet<>();
    findings.stream()
        .filter(finding -> finding.level() != Finding.Level.OK)
        .forEach(finding -> commands.addAll(finding.commands()));
    return List.copyOf(commands);
  }

  /**
   * Runs the commands one after the other.
   *
   * @param say gets each command before it runs
   * @throws GraftException at the first one that fails; the later ones are not run
   */
  public static void run(List<List<String>> commands, Consumer<String> say, Runner runner)
      throws InterruptedException {
    for (List<String> command : commands) {
      String line = String.join(" ", command);
      say.accept(line);
      int code;
      try {
        code = runner.run(command);
      } catch (IOException e) {
        throw new GraftException(
            "'" + line + "' could not be run: " + e.getMessage(), "run the rest by hand", e);
      }
      if (code != 0) {
        throw new GraftException(
            "'" + line + "' ended with " + code + "; no further command was run",
            "see what it printed, then run graft doctor again");
      }
    }
  }

  /** Runs programs of this host without input, and passes on each line that they print. */
  public static Runner thisHost(Consumer<String> printed) {
    return command -> {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(Path.of("/dev/null").toFile());
      builder.environment().put("DEBIAN_FRONTEND", "noninteractive");
      Process process = builder.start();
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          printed.accept(line);
        }
      }
      return process.waitFor();
    };
  }
}
