package graft.deployment;

import graft.common.GraftException;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import java.time.Duration;
import java.util.List;

/** Small programs in a guest that commands need. */
public final class GuestPrograms {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private GuestPrograms() {}

  /**
   * Runs a program and returns its output.
   *
   * @throws GraftException if it failed, with what it said
   */
  public static String run(GuestConnection connection, String... words) {
    Ended ended = connection.run(List.of(words), new byte[0], LIMIT);
    if (!ended.succeeded()) {
      throw new GraftException(
          "'" + String.join(" ", words) + "' failed in the guest: " + ended.said(), "");
    }
    return ended.outputText();
  }
}
