package graft.deployment.step.host;

import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerUser;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

/**
 * Makes the folder of a server's socket for one container. The folder's group is the container's
 * root, and its setgid bit gives each socket in it that group, which may connect.
 *
 * @param unprivileged whether the server runs as its own user, which then owns the folder
 * @param group the number of the group of the host that the container's root has
 */
public record MakeSocketFolder(
    String gpu, String guest, Path folder, boolean unprivileged, long group) implements Step {
  /** Owner: all; group and others: enter; files get the folder's group. */
  private static final int MODE = 02711;

  /** The socket in such a folder. */
  public static Path socket(Path folder) {
    return folder.resolve("server.sock");
  }

  @Override
  public Chain chain() {
    return Chain.server(gpu);
  }

  @Override
  public String name() {
    return "socket-" + guest;
  }

  @Override
  public String describe() {
    return "make the folder "
        + folder
        + " for its socket, which the root of '"
        + guest
        + "' may use";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.folders().contains(folder);
  }

  /** The socket of a container that runs stays when one before it gets its own. */
  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    Files.createDirectories(folder.getParent());
    Files.setPosixFilePermissions(folder.getParent(), PosixFilePermissions.fromString("rwx--x--x"));
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(folder);
    }
    if (unprivileged) {
      Files.setOwner(
          folder,
          ServerUser.find()
              .orElseThrow(
                  () ->
                      new StepFailure(
                          "there is no user '" + ServerUser.NAME + "' for the server",
                          "apply again"))
              .user());
    }
    Files.setAttribute(folder, "unix:gid", (int) group, LinkOption.NOFOLLOW_LINKS);
    Files.setAttribute(folder, "unix:mode", MODE);
    return Map.of();
  }

  /** The server's user owns the folder, so that nothing in it is followed, and other files stay. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    Path socket = socket(folder);
    for (Path file : List.of(socket, socket.resolveSibling(socket.getFileName() + ".lock"))) {
      Files.deleteIfExists(file);
    }
    for (Path empty : List.of(folder, folder.getParent())) {
      try {
        Files.deleteIfExists(empty);
      } catch (DirectoryNotEmptyException e) {
        return; // another container's, or a file that stays
      }
    }
  }
}
