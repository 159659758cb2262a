package graft.cli.host;

import graft.common.GraftException;
import graft.common.values.MemorySize;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.mps.Mps;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;

/** How {@code graft serve} confines its workers. */
final class JailSettings {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,9}|1\\d{9})-(\\d{1,9}|1\\d{9})");

  @Option(
      names = "--require-isolation",
      description =
          "Exit with code 4 if this machine lacks anything that docs/security.md lists for confining"
              + " workers. Without this option the server names what is missing, and starts.")
  boolean required;

  @Option(
      names = "--worker-users",
      paramLabel = "FIRST-LAST",
      description =
          "The users (and groups) that workers run as, one each, as numbers that nothing else uses"
              + " (default: 1990000000-1990009999). For a server that runs as root.")
  String users;

  @Option(
      names = "--worker-memory",
      paramLabel = "SIZE",
      description =
          "The maximum memory of this machine that a worker may use (default: half of it).")
  MemorySize memory;

  @Option(
      names = "--worker-threads",
      paramLabel = "N",
      description = "The maximum number of threads of a worker (default: 4096).")
  Integer threads;

  @Option(
      names = "--mps",
      description =
          "Let the sessions' kernels run at the same time, by NVIDIA's MPS: for guests of class"
              + " dense in the tokens file. All workers then run as one user, and a fault of one"
              + " program on the GPU ends the programs of all guests: see docs/sharing.md.")
  boolean mps;

  private static Path daemon() {
    return Mps.find()
        .orElseThrow(
            () ->
                new GraftException(
                    "--mps needs " + Mps.PROGRAM + ", which is not in PATH",
                    "install the part of NVIDIA's driver that has it, such as Debian's package"
                        + " nvidia-cuda-mps or Ubuntu's nvidia-compute-utils"));
  }

  JailConfig config() {
    JailConfig config = JailConfig.defaults().withRequired(required);
    try {
      if (users != null) {
        Matcher range = RANGE.matcher(users);
        if (!range.matches()) {
          throw new GraftException(
              "--worker-users " + users + " is not a range of users", "write FIRST-LAST");
        }
        config =
            config.withUsers(Integer.parseInt(range.group(1)), Integer.parseInt(range.group(2)));
      }
      if (memory != null) {
        config = config.withMemory(memory.bytes());
      }
      if (threads != null) {
        config = config.withThreads(threads);
      }
      return mps ? config.withMps(daemon()) : config;
    } catch (IllegalArgumentException e) {
      throw new GraftException(e.getMessage(), "see graft serve --help", e);
    }
  }
}
