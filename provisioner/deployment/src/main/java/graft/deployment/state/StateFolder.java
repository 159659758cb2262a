package graft.deployment.state;

import graft.common.GraftException;
import graft.common.disk.StateDisk;
import graft.common.program.CurrentUser;
import graft.common.values.Name;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The state folder of a deployment. Only its owner may enter it, because it contains tokens.
 *
 * @param path the folder, which need not exist yet
 */
public record StateFolder(Name deployment, Path path) {
  /**
   * The folder of a deployment, under {@link CurrentUser#stateFolder}.
   *
   * @throws GraftException if other users can write to it
   */
  public static StateFolder of(Name deployment) {
    StateFolder folder =
        new StateFolder(
            deployment, CurrentUser.stateFolder(System.getenv()).resolve(deployment.text()));
    FolderAccess.check(folder.path());
    return folder;
  }

  /** All deployments that have a folder. */
  public static List<StateFolder> all() {
    Path root = CurrentUser.stateFolder(System.getenv());
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(root)) {
      return children
          .filter(child -> Files.exists(child.resolve("journal.jsonl")))
          .map(child -> new StateFolder(new Name(child.getFileName().toString()), child))
          .sorted((a, b) -> a.deployment().compareTo(b.deployment()))
          .toList();
    } catch (IOException e) {
      throw new GraftException("cannot list " + root + ": " + e.getMessage(), "", e);
    }
  }

  public boolean exists() {
    return Files.isDirectory(path);
  }

  /** Creates the folder. */
  public void create() {
    try {
      StateDisk.get().makeFolders(path);
    } catch (IOException e) {
      throw new GraftException(
          "cannot make the state folder " + path + ": " + e.getMessage(),
          "set GRAFT_STATE_DIR to a folder that you may write to",
          e);
    }
  }

  public Path journal() {
    return path.resolve("journal.jsonl");
  }

  public Path lock() {
    return path.resolve("lock");
  }

  /** The tokens that the server of a GPU accepts. */
  public Path tokens(Name gpu) {
    return path.resolve("gpu-" + gpu + ".tokens");
  }

  public Path serverPid(Name gpu) {
    return path.resolve("gpu-" + gpu + ".pid");
  }

  public Path serverLog(Name gpu) {
    return path.resolve("gpu-" + gpu + ".log");
  }

  /** The process of the closed network of a GPU's guests. */
  public Path networkPid(Name gpu) {
    return path.resolve("gpu-" + gpu + ".network.pid");
  }

  public Path networkLog(Name gpu) {
    return path.resolve("gpu-" + gpu + ".network.log");
  }

  /** The SSH keys of a guest. */
  public SshKeys sshKeys(Name guest) {
    return new SshKeys(path.resolve("guest-" + guest + ".ssh"));
  }

  /** The token of a guest. */
  public Path token(Name guest) {
    return path.resolve("guest-" + guest + ".token");
  }
}
