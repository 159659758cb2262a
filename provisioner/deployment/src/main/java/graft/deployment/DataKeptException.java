package graft.deployment;

import graft.common.GraftException;
import java.util.List;

/** A command would have deleted data without being asked to. It has changed nothing. */
public final class DataKeptException extends GraftException {
  private static final long serialVersionUID = 1;

  DataKeptException(String command, List<String> data) {
    super(
        "graft "
            + command
            + " would delete data, and nothing was changed: "
            + String.join("; ", data),
        "graft " + command + " --delete-data deletes it");
  }
}
