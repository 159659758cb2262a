package graft.cli.host;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** Where operators, and other servers, find a server of {@code graft serve}. */
final class OperatorSettings {
  private static final String OFF = "off";

  @Option(
      names = "--operator",
      paramLabel = "SOCKET|off",
      description =
          "The Unix socket by which graft sessions, top and kill ask this server, in a folder that"
              + " only its user can enter (default: serve-PID.sock in /run/graft-serve for root, in"
              + " XDG_RUNTIME_DIR/graft for other users). It answers only root and this user.")
  String operator;

  @Option(
      names = "--arbiters",
      paramLabel = "FOLDER|off",
      description =
          "The folder by which servers of one user find each other, so that guests of several"
              + " servers of a GPU share it by their classes and percentages; only its owner can"
              + " enter it (default: arbiters in /run/graft-serve for root, in"
              + " XDG_RUNTIME_DIR/graft for other users, else off).")
  String arbiters;

  /**
   * The folder by which servers find each other; empty for none.
   *
   * @param warning told why there is none, although one was not refused
   */
  Optional<Path> arbiters(Consumer<String> warning) {
    if (arbiters != null) {
      return arbiters.equals(OFF)
          ? Optional.empty()
          : Optional.of(Path.of(arbiters).toAbsolutePath());
    }
    Optional<Path> folder = CurrentUser.runtimeFolder(System.getenv());
    if (folder.isEmpty()) {
      return Optional.empty();
    }
    try {
      makePrivate(folder.get());
      Path own = folder.get().resolve("arbiters");
      makePrivate(own);
      return Optional.of(own);
    } catch (IOException e) {
      warning.accept("this server shares no arbiter of its GPUs with others: " + e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * The socket; empty for none.
   *
   * @param warning told why there is none, although one was not refused
   */
  Optional<Path> socket(Consumer<String> warning) {
    if (operator != null) {
      return operator.equals(OFF)
          ? Optional.empty()
          : Optional.of(Path.of(operator).toAbsolutePath());
    }
    Optional<Path> folder = CurrentUser.runtimeFolder(System.getenv());
    if (folder.isEmpty()) {
      warning.accept(
          "graft sessions cannot ask this server: there is no XDG_RUNTIME_DIR; name a socket by"
              + " --operator");
      return Optional.empty();
    }
    try {
      makePrivate(folder.get());
      return Optional.of(folder.get().resolve("serve-" + ProcessHandle.current().pid() + ".sock"));
    } catch (IOException e) {
      warning.accept("graft sessions cannot ask this server: " + e.getMessage());
      return Optional.empty();
    }
  }

  private static void makePrivate(Path folder) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    String owner = Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName();
    if (!owner.equals(System.getProperty("user.name"))) {
      throw new IOException(folder + " belongs to " + owner);
    }
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
  }
}
