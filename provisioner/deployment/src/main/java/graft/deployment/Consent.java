package graft.deployment;

import graft.common.GraftException;
import java.util.List;

/**
 * Decides whether a command may change hosts, and delete data: disks that guests have written to.
 */
@FunctionalInterface
public interface Consent {
  /** Data stays. */
  Consent NONE = data -> false;

  /** For a deployment that the same command has made. */
  Consent OWN = data -> true;

  /** What a command is about to do. */
  @FunctionalInterface
  interface Change {
    /** What it is, in lines; empty if it is nothing. */
    String text() throws Exception;
  }

  /**
   * Whether all of the data may be deleted.
   *
   * @param data each in words, with its path; not empty
   */
  boolean mayDelete(List<String> data);

  /** Whether a change may be made. Where nobody is asked, the command itself is the consent. */
  default boolean mayChange(Change change) throws Exception {
    return true;
  }

  /**
   * Asks for a change.
   *
   * @throws GraftException if it was declined
   */
  default void requireChange(String command, Change change) throws Exception {
    if (!mayChange(change)) {
      throw new GraftException(
          "graft " + command + " was declined, and nothing was changed",
          "graft " + command + " --yes does not ask");
    }
  }

  /**
   * Asks for the data that a command would delete, if there is any.
   *
   * @throws DataKeptException if the data has to stay
   */
  default void require(String command, List<String> data) throws DataKeptException {
    if (!data.isEmpty() && !mayDelete(data)) {
      throw new DataKeptException(command, data);
    }
  }
}
