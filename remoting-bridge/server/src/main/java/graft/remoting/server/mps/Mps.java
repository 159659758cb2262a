package graft.remoting.server.mps;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * NVIDIA's MPS as Graft uses it. A control daemon listens in a folder, and starts a server at the
 * first client; both run as the workers' user, because MPS serves one user at a time. Workers are
 * its clients by the variable that names the folder.
 *
 * @see <a href="https://docs.nvidia.com/deploy/mps/">Multi-Process Service</a>
 */
public final class Mps {
  /** The control daemon. */
  public static final String PROGRAM = "nvidia-cuda-mps-control";

  /** The daemon's option to stay a child of the process that started it, and to print its log. */
  public static final String IN_FOREGROUND = "-f";

  /** The variable that names the folder of the daemon's sockets. */
  public static final String PIPES = "CUDA_MPS_PIPE_DIRECTORY";

  private static final String VARIABLES = "CUDA_MPS_";

  private Mps() {}

  /** Finds the control daemon in PATH. */
  public static Optional<Path> find() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(folder -> folder.startsWith("/"))
        .map(folder -> Path.of(folder, PROGRAM))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Removes what the operator's environment says of another MPS. */
  public static void removeFrom(Map<String, String> environment) {
    environment.keySet().removeIf(name -> name.startsWith(VARIABLES));
  }

  /**
   * Makes a worker's environment that of the daemon, which finds its server in PATH.
   *
   * @return the same map
   */
  public static Map<String, String> environment(Map<String, String> environment, Path daemon) {
    removeFrom(environment);
    environment.put("PATH", daemon.toAbsolutePath().getParent() + File.pathSeparator + "/usr/bin");
    return environment;
  }
}
