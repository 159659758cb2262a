package graft.deployment;

import java.util.List;

/** Decides whether a command may delete data: disks that guests have written to. */
@FunctionalInterface
public interface DataConsent {
  /** Data stays. */
  DataConsent NONE = data -> false;

  /** For a deployment that the same command has made. */
  DataConsent OWN = data -> true;

  /**
   * Whether all of the data may be deleted.
   *
   * @param data each in words, with its path; not empty
   */
  boolean mayDelete(List<String> data);

  /**
   * Asks, if there is something to ask for.
   *
   * @throws DataKeptException if the data has to stay
   */
  default void require(String command, List<String> data) throws DataKeptException {
    if (!data.isEmpty() && !mayDelete(data)) {
      throw new DataKeptException(command, data);
    }
  }
}
