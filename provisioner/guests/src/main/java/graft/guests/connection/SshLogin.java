package graft.guests.connection;

import graft.common.values.UserName;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The login of a guest for SSH.
 *
 * @param address the guest's address; if absent, the one that libvirt reports
 * @param key the file of the private key; if absent, the user's own keys
 * @param knownHosts the file with the guest's host key
 */
public record SshLogin(
    UserName user, Optional<HostAddress> address, int port, Optional<Path> key, Path knownHosts) {

  /**
   * The file with the host key of a guest that boots a disk. The file is beside the disk, because a
   * new disk has a new key.
   */
  public static Path knownHostsBeside(Path disk) {
    return disk.resolveSibling(disk.getFileName() + ".known-hosts");
  }
}
