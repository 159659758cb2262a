package graft.deployment.state;

import graft.common.values.Name;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The folders of a server that runs as its own user. That user may not enter the state folder.
 *
 * @param instance the server's name on this host
 */
public record ServerFolder(String instance) {
  private static final Path FILES = Path.of("/var/lib/graft-server");
  private static final Path RUNTIME = Path.of("/run/graft");
  private static final Path LOGS = Path.of("/var/log/graft");
  private static final Path SOCKETS = Path.of("/var/lib/graft-sockets");
  private static final Path OPERATORS = Path.of("/run/graft-server");

  /** Sockets' paths are short (unix(7)). */
  private static final int MOST = 50;

  private static final Path USUAL_STATE = Path.of("/var/lib/graft");

  /** The folders of the server of a GPU. State folders elsewhere than usual do not share names. */
  public static ServerFolder of(StateFolder state, Name gpu) {
    return new ServerFolder(name(state, gpu.text()));
  }

  private static String name(StateFolder state, String part) {
    Path root = state.path().toAbsolutePath().getParent();
    String name = state.deployment() + "." + part;
    return USUAL_STATE.equals(root) && name.length() <= MOST
        ? name
        : String.format(
            "%s.%08x",
            name.substring(0, Math.min(name.length(), MOST)), Objects.hash(root.toString(), name));
  }

  /**
   * The folder of the server's socket for one container, which sees it as a folder of its own. Each
   * container has another one, since only its own root may use the socket.
   *
   * @param gpu the GPU of the server, if it is that of a further vGPU
   */
  public static Path sockets(StateFolder state, Name guest, Optional<Name> gpu) {
    return SOCKETS.resolve(name(state, guest + gpu.map(name -> "." + name).orElse("")));
  }

  /** The folder of what outlives a boot; root's, and the server's user may read it. */
  public Path files() {
    return FILES.resolve(instance);
  }

  /** The tokens that the server accepts. */
  public Path tokens() {
    return files().resolve("tokens");
  }

  /** The folder of what a boot removes. */
  public Path runtime() {
    return RUNTIME.resolve(instance);
  }

  /** The folder of what the server itself writes; its user owns it. */
  public Path logs() {
    return LOGS.resolve(instance);
  }

  /** The server's log, where systemd does not keep it. */
  public Path log() {
    return logs().resolve("server.log");
  }

  /** The audit trail, if it is a file. */
  public Path audit() {
    return logs().resolve("audit.jsonl");
  }

  /** The folder of the sockets for operators and metrics; the server's user owns it. */
  public Path operators() {
    return OPERATORS.resolve(instance);
  }

  /** The socket by which operators ask the server. */
  public Path operator() {
    return operators().resolve("operator.sock");
  }

  /** The socket that serves metrics. */
  public Path metrics() {
    return operators().resolve("metrics.sock");
  }

  /** The configuration of the server's starter. */
  public Path config() {
    return runtime().resolve("starter.conf");
  }

  /** The socket of the server's starter. */
  public Path socket() {
    return runtime().resolve("starter.sock");
  }
}
