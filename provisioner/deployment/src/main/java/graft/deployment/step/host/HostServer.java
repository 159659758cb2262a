package graft.deployment.step.host;

import graft.common.values.Endpoint;
import graft.deployment.state.ServerProcess;
import graft.deployment.step.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A step that runs the server of a GPU that the host owns. */
public interface HostServer extends Step {
  /** The GPU's name. */
  String gpu();

  /** The addresses that the server listens at. */
  List<Endpoint> listen();

  /** The server's device. */
  String device();

  /** The file of the server's process id, or of its starter's. */
  Path pidFile();

  /** The socket by which operators ask the server. */
  Path operator();

  /** Whether it runs. */
  default boolean runs() {
    return ServerProcess.find(pidFile()).isPresent();
  }

  /** Ends the server, whose files stay. {@link #apply} starts it again. */
  void stop() throws IOException, InterruptedException;

  /** What the server prints. */
  ServerLog printed();
}
