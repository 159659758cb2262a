package graft.remoting.server.accept;

import graft.remoting.server.system.Bytes;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a token allows: one line of the tokens file.
 *
 * @param name the guest's name
 * @param token 32 secret bytes
 * @param memory the most device memory of one session, in bytes
 * @param device the device's index at the server
 * @param cid the guest's context id, from which alone it may connect by vsock
 * @param region the file on this host that is the guest's shared memory, empty without
 * @param domain the name of the guest's domain under Xen, empty without
 */
record Grant(
    String name,
    Bytes token,
    OptionalLong memory,
    OptionalInt device,
    OptionalLong cid,
    String region,
    String domain) {
  /** Leaves the secret out, so that no log can show it. */
  @Override
  public String toString() {
    return "Grant[" + name + "]";
  }
}
