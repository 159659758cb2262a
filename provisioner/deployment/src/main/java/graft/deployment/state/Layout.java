package graft.deployment.state;

import graft.common.values.Name;
import java.nio.file.Path;

/**
 * The places of a deployment's files.
 *
 * @param guests the folder of its guests' files. A system libvirt runs guests as its own user, who
 *     may not enter the state folder; the files are then in libvirt's image folder
 * @param ownParents the number of folders from there upwards that Graft makes
 */
public record Layout(StateFolder state, Path guests, int ownParents) {
  private static final Path SYSTEM_IMAGES = Path.of("/var/lib/libvirt/images/graft");

  /**
   * The layout of a deployment.
   *
   * @param root whether this process runs as root
   */
  public static Layout of(StateFolder state, boolean root) {
    return root
        ? new Layout(state, SYSTEM_IMAGES.resolve(state.deployment().text()), 1)
        : new Layout(state, state.path().resolve("guests"), 0);
  }

  /** The folder of one guest's files. */
  public Path guest(Name guest) {
    return guests.resolve(guest.text());
  }

  /** The log of a guest's console. */
  public Path console(Name guest) {
    return guest(guest).resolve("console.log");
  }
}
