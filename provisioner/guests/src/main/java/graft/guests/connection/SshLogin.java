package graft.guests.connection;

import graft.common.values.UserName;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How to log in to a guest by SSH.
 *
 * @param address the guest's; the one that libvirt knows if absent
 * @param key the file of the private key; the user's own ones if absent
 * @param knownHosts where the guest's host key is kept once it has been seen
 */
public record SshLogin(
    UserName user, Optional<HostAddress> address, int port, Optional<Path> key, Path knownHosts) {

  /** Where the host key of a guest is kept that boots a disk: a new disk has a new key. */
  public static Path knownHostsBeside(Path disk) {
    return disk.resolveSibling(disk.getFileName() + ".known-hosts");
  }
}
