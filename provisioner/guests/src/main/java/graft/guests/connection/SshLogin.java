package graft.guests.connection;

import graft.common.values.UserName;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How to log in to a guest by SSH.
 *
 * @param address the guest's; the one that libvirt knows if absent
 * @param key the file of the private key; the user's own ones if absent
 * @param knownHosts the file that keeps the guest's host key
 */
public record SshLogin(
    UserName user, Optional<HostAddress> address, int port, Optional<Path> key, Path knownHosts) {

  /** The file with the host key of a guest that boots a disk. A new disk has a new key. */
  public static Path knownHostsBeside(Path disk) {
    return disk.resolveSibling(disk.getFileName() + ".known-hosts");
  }
}
