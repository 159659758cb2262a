package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Who may have a session. */
public interface Grants {
  /**
   * What this name is granted, null if nothing is.
   *
   * @throws ServerException when that cannot be read
   */
  Grant of(String name) throws ServerException;

  /**
   * Anyone who connects, under any name: the token is the one of a client that has none, all zero.
   */
  static Grants anyone() {
    Bytes none = Bytes.of(new byte[HandshakeMessages.PROOF]);
    return name ->
        new Grant(
            name, none, OptionalLong.empty(), OptionalInt.empty(), OptionalLong.empty(), "", "");
  }
}
