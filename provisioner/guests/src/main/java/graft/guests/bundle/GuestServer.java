package graft.guests.bundle;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The units of the server in a guest that owns a GPU, for the bundle {@code graft-server}. */
final class GuestServer {
  private static final List<String> SETTINGS = List.of("port", "device", "options");
  private static final String RUNTIME = "graft/server";
  private static final String ORIGIN = "Written by graft.";
  private static final String NAME = "of this guest";

  private GuestServer() {}

  /**
   * The variables of the bundle, with the texts of the units for its settings. A bundle of the site
   * that takes the place of Graft's may have other settings, and then gets no texts.
   */
  static Variables withUnits(Variables settings) {
    if (!SETTINGS.stream().allMatch(name -> settings.value(name).isPresent())) {
      return settings;
    }
    String serve =
        settings.expand(
            "/opt/graft/bin/graft serve --listen tcp://0.0.0.0:${port} --tokens"
                + " /etc/graft/server.tokens --device ${device} ${options}");
    String config = "/run/" + RUNTIME + "/starter.conf";
    String socket = "/run/" + RUNTIME + "/starter.sock";
    String starter =
        ServerUnit.STARTER.text(
            Map.of(
                "origin",
                ORIGIN,
                "name",
                NAME,
                "prepare",
                "ExecStartPre=+/opt/graft/lib/prepare-server\n",
                "configure",
                serve + " --write-starter-config " + config,
                "start",
                "/opt/graft/lib/graft-starter --own-cgroup --server-user graft --config "
                    + config
                    + " --socket "
                    + socket,
                "folder",
                RUNTIME,
                "environment",
                ""));
    String server =
        ServerUnit.SERVER.text(
            Map.of(
                "origin", ORIGIN,
                "name", NAME,
                "needs",
                    "Requires=graft-starter.service\nAfter=graft-starter.service network.target",
                "user", "graft",
                "operators", "graft-server",
                "start",
                    serve
                        + " --operator /run/graft-server/operator.sock "
                        + String.join(" ", views(serve))
                        + " --starter "
                        + socket,
                "environment", "",
                "home", "yes",
                "logs", "LogsDirectory=graft\nLogsDirectoryMode=0700",
                "devices", ServerUnit.devices(serve.contains("--rdma-ports"))));
    return settings.with("starter-unit", starter).with("server-unit", server);
  }

  private static List<String> views(String serve) {
    return ServerViews.on(
        List.of(serve.split(" ", -1)), Optional.of(Path.of("/run/graft-server/metrics.sock")));
  }
}
