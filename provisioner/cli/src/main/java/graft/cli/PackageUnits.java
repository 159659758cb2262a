package graft.cli;

import graft.guests.bundle.NodeUnits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The units of the Debian package, for a node that serves its GPU without a deployment.
 * distribution/debian/build.sh calls this class.
 */
final class PackageUnits {
  private PackageUnits() {}

  /** Writes the units for the installed folder {@code args[0]} into the folder {@code args[1]}. */
  public static void main(String[] args) throws IOException {
    NodeUnits units =
        new NodeUnits(
            args[0],
            args[0] + "/bin/graft serve --tokens /etc/graft/server.tokens $GRAFT_SERVE",
            "--metrics unix:///run/graft-server/metrics.sock --session-log on",
            "What it serves, and where: /etc/default/graft-server.",
            "of this node",
            "EnvironmentFile=/etc/default/graft-server",
            false,
            true);
    Path folder = Path.of(args[1]);
    Files.writeString(folder.resolve("graft-starter.service"), units.starter());
    Files.writeString(folder.resolve("graft-server.service"), units.server());
  }
}
