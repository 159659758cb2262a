package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The names that may have a session. */
public interface Grants {
  /**
   * Returns what a name is granted, null if nothing.
   *
   * @throws ServerException if the grants cannot be read
   */
  Grant of(String name) throws ServerException;

  /**
   * Grants a session to every client under any name. The token is the one of a client without a
   * token, all zeros.
   */
  static Grants anyone() {
    Bytes none = Bytes.of(new byte[HandshakeMessages.PROOF]);
    return name ->
        new Grant(
            name, none, OptionalLong.empty(), OptionalInt.empty(), OptionalLong.empty(), "", "");
  }
}
