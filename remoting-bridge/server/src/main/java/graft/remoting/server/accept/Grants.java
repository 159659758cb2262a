package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
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
    String none = "0".repeat(64);
    return name ->
        new Grant(
            name,
            none,
            "",
            OptionalLong.empty(),
            OptionalInt.empty(),
            OptionalLong.empty(),
            "",
            "");
  }

  /** Those whom a file names at the time of asking. */
  static Grants in(TokensFile tokens) {
    return name -> {
      try {
        return tokens.read().get(name);
      } catch (IOException e) {
        throw new ServerException(e.getMessage(), e);
      }
    };
  }
}
