package graft.remoting.server.accept;

import graft.remoting.server.system.Bytes;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a token allows: one line of the tokens file.
 *
 * @param name the name of the guest
 * @param token 32 secret bytes
 * @param memory the limit of a session's device memory, in bytes
 * @param device the index of the device at the server
 * @param cid the guest's context id, the only one from which it may connect by vsock
 * @param region the file on this host that is the guest's shared memory, empty if it has none
 * @param domain the name of the guest's Xen domain, empty if it has none
 */
record Grant(
    String name,
    Bytes token,
    OptionalLong memory,
    OptionalInt device,
    OptionalLong cid,
    String region,
    String domain) {
  /** Omits the token, so that no log can show it. */
  @Override
  public String toString() {
    return "Grant[" + name + "]";
  }
}
