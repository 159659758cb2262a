package graft.deployment.state;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Refuses state folders that other users can change: what is in them is undone and started again
 * with the rights of whoever runs graft.
 */
final class FolderAccess {
  private static final int STICKY = 01000;
  private static final int OTHERS_WRITE = 02;
  private static final int GROUP_WRITES = 020;

  private FolderAccess() {}

  /**
   * Checks the folder of a deployment, and the one that it is in.
   *
   * @throws GraftException with the command that mends it
   */
  static void check(Path folder) {
    try {
      Path parent = folder.getParent();
      if (Files.exists(parent)) {
        int mode = mode(parent);
        // In a sticky folder such as /tmp others cannot replace what is not theirs.
        if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0) {
          throw refused(parent, mode, "chmod o-w " + parent);
        }
      }
      if (Files.exists(folder)) {
        int mode = mode(folder);
        if ((mode & (OTHERS_WRITE | GROUP_WRITES)) != 0) {
          throw refused(folder, mode, "chmod 700 " + folder);
        }
        if ((mode(parent) & OTHERS_WRITE) != 0 && !isOurs(folder)) {
          throw new GraftException(
              "the state folder "
                  + folder
                  + " belongs to another user, who made it in a folder that"
                  + " everybody writes to",
              "set GRAFT_STATE_DIR to a folder of your own");
        }
      }
    } catch (NoSuchFileException e) {
      // removed meanwhile
    } catch (IOException e) {
      throw new GraftException("cannot look at the state folder " + folder + ": " + e, "", e);
    }
  }

  private static GraftException refused(Path folder, int mode, String remedy) {
    return new GraftException(
        "other users can write to the state folder "
            + folder
            + String.format(" (mode %04o)", mode & 07777)
            + ", and what is in it would be done with your rights",
        "look for what is not yours in it, then " + remedy);
  }

  private static int mode(Path path) throws IOException {
    return (Integer) Files.getAttribute(path, "unix:mode");
  }

  private static boolean isOurs(Path folder) throws IOException {
    return Files.getAttribute(folder, "unix:uid")
        .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }
}
