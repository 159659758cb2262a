package graft.deployment.state;

import graft.common.GraftException;
import graft.common.disk.StateDisk;
import graft.common.program.CurrentUser;
import graft.common.values.Name;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state folder of a deployment. Only its owner may enter it, because it contains tokens.
 *
 * @param path the folder, which need not exist yet
 */
public record StateFolder(Name deployment, Path path) {
  private static final String JOURNAL = "journal.jsonl";

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

  /** All deployments that have a folder; a folder whose name is no deployment's is left out. */
  public static List<StateFolder> all() {
    return folders(CurrentUser.stateFolder(System.getenv())).stream()
        .map(StateFolder::at)
        .flatMap(Optional::stream)
        .toList();
  }

  /**
   * The folders with a journal, in the order of their names, sound or not.
   *
   * @param root the folder of the state of all deployments, which need not exist
   */
  public static List<Path> folders(Path root) {
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(root)) {
      return children
          .filter(child -> Files.exists(child.resolve(JOURNAL), LinkOption.NOFOLLOW_LINKS))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new GraftException("cannot list " + root + ": " + e.getMessage(), "", e);
    }
  }

  /** The state that a folder holds; empty if its name is no deployment's. */
  private static Optional<StateFolder> at(Path folder) {
    try {
      return Optional.of(new StateFolder(new Name(folder.getFileName().toString()), folder));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * The state that a folder holds.
   *
   * @throws GraftException if its name is no deployment's, or other users can write to it
   */
  public static StateFolder sound(Path folder) {
    StateFolder state =
        at(folder)
            .orElseThrow(
                () ->
                    new GraftException(
                        "'" + folder.getFileName() + "' is not the name of a deployment",
                        "look for who made " + folder));
    FolderAccess.check(folder);
    return state;
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
    return path.resolve(JOURNAL);
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

  /**
   * The token of a guest.
   *
   * @param gpu the GPU whose server takes it, if it is that of a further vGPU
   */
  public Path token(Name guest, Optional<Name> gpu) {
    return path.resolve("guest-" + guest + gpu.map(name -> "." + name).orElse("") + ".token");
  }
}
