package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** The names that may have a session. */
public interface Grants {
  /**
   * Returns the grant of a name, null if the name has none.
   *
   * @throws ServerException if the grants cannot be read
   */
  Grant of(String name) throws ServerException;

  /**
   * Returns the names that have a grant; empty if every name has one.
   *
   * @throws ServerException if the grants cannot be read
   */
  Set<String> names() throws ServerException;

  /**
   * Grants a session to every client under any name. The token is all zeros, as clients without a
   * token send it.
   */
  static Grants anyone() {
    String none = "0".repeat(64);
    return new Grants() {
      @Override
      public Grant of(String name) {
        return new Grant(
            name,
            none,
            "",
            "",
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalInt.empty(),
            OptionalInt.empty(),
            OptionalLong.empty(),
            "",
            "",
            false,
            true,
            Optional.empty(),
            OptionalLong.empty());
      }

      @Override
      public Set<String> names() {
        return Set.of();
      }
    };
  }

  /**
   * Reads the grants from the tokens file at each query. A name whose line is wrong or has expired
   * has none.
   */
  static Grants in(TokensFile tokens) {
    return new Grants() {
      @Override
      public Grant of(String name) throws ServerException {
        return read().get(name);
      }

      @Override
      public Set<String> names() throws ServerException {
        return read().keySet();
      }

      private Map<String, Grant> read() throws ServerException {
        try {
          return tokens.readLines().at(Instant.now()).grants();
        } catch (IOException e) {
          throw new ServerException(e.getMessage(), e);
        }
      }
    };
  }
}
