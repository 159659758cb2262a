package graft.cli.host;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options by which a program of this machine authenticates to a server. */
public final class ClientToken {
  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "The name that belongs to the token in the server's list (default: ${DEFAULT-VALUE}).",
      defaultValue = "${sys:user.name}")
  String name;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "The file with the token for --server, mode 0600.")
  Path file;

  /** The client's name. */
  public String name() {
    return name;
  }

  /**
   * The token's file; null if there is none, so that a server without --insecure refuses the
   * program with a message.
   */
  public Path file() {
    return file == null ? null : file.toAbsolutePath();
  }
}
