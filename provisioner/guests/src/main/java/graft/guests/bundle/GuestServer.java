package graft.guests.bundle;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The units of the server in a guest that owns a GPU, for the bundle {@code graft-server}. */
final class GuestServer {
  private static final List<String> SETTINGS = List.of("port", "device", "options");

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
    List<String> views =
        ServerViews.on(
            List.of(serve.split(" ", -1)), Optional.of(Path.of("/run/graft-server/metrics.sock")));
    NodeUnits units =
        new NodeUnits(
            "/opt/graft",
            serve,
            String.join(" ", views),
            "Written by graft.",
            "of this guest",
            "",
            serve.contains("--rdma-ports"),
            !serve.contains("--device software"));
    return settings.with("starter-unit", units.starter()).with("server-unit", units.server());
  }
}
