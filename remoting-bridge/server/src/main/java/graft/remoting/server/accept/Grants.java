package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** Who may have a session. */
public interface Grants {
  /**
   * What this name is granted, null if nothing is.
   *
   * @throws ServerException when that cannot be read
   */
  Grant of(String name) throws ServerException;

  /**
   * The names that are granted something, none when any name is.
   *
   * @throws ServerException when they cannot be read
   */
  Set<String> names() throws ServerException;

  /**
   * Anyone who connects, under any name: the token is the one of a client that has none, all zero.
   */
  static Grants anyone() {
    Bytes none = Bytes.of(new byte[HandshakeMessages.PROOF]);
    return new Grants() {
      @Override
      public Grant of(String name) {
        return new Grant(
            name, none, OptionalLong.empty(), OptionalInt.empty(), OptionalLong.empty(), "", "");
      }

      @Override
      public Set<String> names() {
        return Set.of();
      }
    };
  }
}
