package graft.deployment.state;

import graft.common.values.Name;
import java.nio.file.Path;

/**
 * Where the files of a deployment lie.
 *
 * @param guests the folder of its guests' files. A libvirt of root's runs guests as a user of its
 *     own, who may not enter the state folder: their files are under libvirt's image folder then
 * @param ownParents how many folders from there up are made by Graft
 */
public record Layout(StateFolder state, Path guests, int ownParents) {
  private static final Path SYSTEM_IMAGES = Path.of("/var/lib/libvirt/images/graft");

  /**
   * The layout of a deployment.
   *
   * @param root whether this process is root's
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
