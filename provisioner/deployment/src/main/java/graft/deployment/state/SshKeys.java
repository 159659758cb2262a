package graft.deployment.state;

import java.nio.file.Path;

/** The SSH keys of a guest, in a folder of their own. */
public record SshKeys(Path folder) {
  /** What Graft logs in with. */
  public Path key() {
    return folder.resolve("key");
  }

  /** What the guest proves itself with, where Graft puts it there. */
  public Path hostKey() {
    return folder.resolve("host-key");
  }

  /** OpenSSH's file of the hosts whose keys are known: the guest alone. */
  public Path knownHosts() {
    return folder.resolve("known-hosts");
  }

  /** The public half of a key. */
  public Path publicHalf(Path key) {
    return key.resolveSibling(key.getFileName() + ".pub");
  }
}
