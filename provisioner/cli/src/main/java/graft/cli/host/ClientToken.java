package graft.cli.host;

import graft.common.GraftException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The options by which a program of this machine authenticates to a server. */
public final class ClientToken {
  /** What separates the settings of several servers in the client's configuration. */
  static final String BETWEEN_SERVERS = "; ";

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "The name that belongs to the token in the server's list (default: ${DEFAULT-VALUE}).",
      defaultValue = "${sys:user.name}")
  List<String> names;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "The file with the token for --server, mode 0600.")
  List<Path> files = List.of();

  /** The client's name. */
  public String name() {
    return only(names, "--name");
  }

  /**
   * The token's file; null if there is none, so that a server without --insecure refuses the
   * program with a message.
   */
  public Path file() {
    return files.isEmpty() ? null : only(files, "--token-file").toAbsolutePath();
  }

  /**
   * The client's names at several servers, as the client reads them.
   *
   * @throws GraftException if they are neither one nor as many as the servers
   */
  String names(int servers) {
    return list(names, servers, "--name");
  }

  /** The same of the tokens' files; null if there is none. */
  Path files(int servers) {
    List<Path> all = files.stream().map(Path::toAbsolutePath).toList();
    return all.isEmpty() ? null : Path.of(list(all, servers, "--token-file"));
  }

  private static String list(List<?> items, int servers, String option) {
    if (items.size() != 1 && items.size() != servers) {
      throw new GraftException(
          "%s is given %d times for %d servers".formatted(option, items.size(), servers),
          "give it once, or once for each --server");
    }
    return items.stream().map(Object::toString).collect(Collectors.joining(BETWEEN_SERVERS));
  }

  private static <T> T only(List<T> items, String option) {
    if (items.size() > 1) {
      throw new GraftException(
          option + " is given %d times for one server".formatted(items.size()), "give it once");
    }
    return items.get(0);
  }
}
