package graft.deployment.programs;

import graft.common.values.Endpoint;
import graft.deployment.state.ServerProcess;
import graft.deployment.step.host.StartServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A process that looks like the server of gpu0.
 *
 * @param step by which a journal has it as started
 */
public record ServerLikeProcess(Process process, StartServer step) {
  /** Starts it, with its files in a folder. */
  public static ServerLikeProcess start(Path folder) throws IOException {
    Path pidFile = folder.resolve("gpu-gpu0.pid");
    Process process =
        new ProcessBuilder(
                "sh", "-c", "read x", "serve", ServerProcess.PID_FILE, pidFile.toString())
            .start();
    Files.writeString(pidFile, process.pid() + "\n");
    StartServer step =
        new StartServer(
            "gpu0",
            List.of(Endpoint.tcp("127.0.0.1", 8450)),
            "software",
            Optional.empty(),
            0,
            List.of(),
            folder.resolve("tokens"),
            pidFile,
            folder.resolve("log"),
            List.of());
    return new ServerLikeProcess(process, step);
  }
}
