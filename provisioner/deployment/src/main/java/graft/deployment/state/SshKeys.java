package graft.deployment.state;

import java.nio.file.Path;

/** The SSH keys of a guest, in a folder of their own. */
public record SshKeys(Path folder) {
  /** The key that Graft logs in with. */
  public Path key() {
    return folder.resolve("key");
  }

  /** The host key of the guest, where Graft installs one. */
  public Path hostKey() {
    return folder.resolve("host-key");
  }

  /** OpenSSH's file of known hosts, with the guest as its only entry. */
  public Path knownHosts() {
    return folder.resolve("known-hosts");
  }

  /** The public half of a key. */
  public Path publicHalf(Path key) {
    return key.resolveSibling(key.getFileName() + ".pub");
  }
}
