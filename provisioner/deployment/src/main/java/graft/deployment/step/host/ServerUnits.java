package graft.deployment.step.host;

import graft.deployment.state.ServerFolder;

/** The names of the units of a server and of its starter. */
public final class ServerUnits {
  private ServerUnits() {}

  /** The name of the starter's unit. */
  public static String starter(ServerFolder folder) {
    return "graft-starter@" + folder.instance() + ".service";
  }

  /** The name of the server's unit. */
  public static String server(ServerFolder folder) {
    return "graft-server@" + folder.instance() + ".service";
  }
}
