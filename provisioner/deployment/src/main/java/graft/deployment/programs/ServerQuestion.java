package graft.deployment.programs;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Asks a server of this host. */
@FunctionalInterface
public interface ServerQuestion {
  /**
   * Returns the server's answer, whose {@code sessions} are a list.
   *
   * @param socket the socket by which operators ask it
   * @param limit how long it may take
   * @throws IOException if it does not answer
   */
  Map<String, Object> ask(Path socket, Duration limit) throws IOException;
}
