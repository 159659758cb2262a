package graft.guests.bundle;

import java.util.Map;

/**
 * The units of a server that no deployment runs: in a guest that owns a GPU, and of the Debian
 * package.
 *
 * @param home the folder with {@code bin/graft} and {@code lib/prepare-server}
 * @param serve the command, without the addresses of starter and operators
 * @param views the options by which the server lets others see its sessions
 * @param origin the first line of the units, a comment
 * @param name what the units' descriptions end with
 * @param environment a line of further settings of both units, for example {@code
 *     EnvironmentFile=...}, or nothing
 * @param rdma whether the server opens InfiniBand's devices
 * @param gpu whether the server may have a GPU
 */
public record NodeUnits(
    String home,
    String serve,
    String views,
    String origin,
    String name,
    String environment,
    boolean rdma,
    boolean gpu) {
  private static final String RUNTIME = "graft/server";
  private static final String SOCKET = "/run/" + RUNTIME + "/starter.sock";
  private static final String CONFIG = "/run/" + RUNTIME + "/starter.conf";

  private String settings() {
    return environment.isEmpty() ? "" : "\n" + environment;
  }

  /** The text of {@code graft-starter.service}. */
  public String starter() {
    return ServerUnit.STARTER.text(
        Map.of(
            "origin",
            origin,
            "name",
            name,
            "prepare",
            "ExecStartPre=+" + home + "/lib/prepare-server\n",
            "configure",
            serve + " --write-starter-config " + CONFIG,
            "start",
            home
                + "/lib/graft-starter --own-cgroup --server-user graft --config "
                + CONFIG
                + " --socket "
                + SOCKET,
            "folder",
            RUNTIME,
            "environment",
            settings()));
  }

  /** The text of {@code graft-server.service}. */
  public String server() {
    return ServerUnit.SERVER.text(
        Map.ofEntries(
            Map.entry("origin", origin),
            Map.entry("name", name),
            Map.entry(
                "needs",
                "Requires=graft-starter.service\nAfter=graft-starter.service network.target"),
            Map.entry("user", "graft"),
            Map.entry("operators", "graft-server"),
            Map.entry("arbiters", ServerViews.ARBITERS_FOLDER),
            Map.entry(
                "start",
                serve
                    + " --operator /run/graft-server/operator.sock "
                    + ServerViews.ARBITERS
                    + " "
                    + ServerViews.ARBITERS_FOLDER
                    + " "
                    + views
                    + " --starter "
                    + SOCKET),
            Map.entry("environment", settings()),
            Map.entry("home", "yes"),
            Map.entry("logs", "LogsDirectory=graft\nLogsDirectoryMode=0700"),
            Map.entry("devices", ServerUnit.devices(rdma, gpu))));
  }
}
