package graft.deployment.observe;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * How this host starts services.
 *
 * @param systemd whether systemd does (sd_booted(3))
 * @param serverUser whether the user exists that servers run as
 * @param units the text of each unit of Graft's servers, by name
 */
public record ServiceFacts(boolean systemd, boolean serverUser, Map<String, String> units) {
  /** Where an administrator's units lie, before those of packages (systemd.unit(5)). */
  public static final Path UNITS = Path.of("/etc/systemd/system");

  /** No systemd and no user for servers. */
  public static final ServiceFacts NONE = new ServiceFacts(false, false, Map.of());

  /** Observes this host. */
  static ServiceFacts observe(boolean serverUser) {
    Map<String, String> units = new TreeMap<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(UNITS, "graft-{server,starter}@*.service")) {
      for (Path file : files) {
        units.put(file.getFileName().toString(), Files.readString(file));
      }
    } catch (IOException e) {
      // There are none, or only root may read them.
    }
    return new ServiceFacts(Files.isDirectory(Path.of("/run/systemd/system")), serverUser, units);
  }
}
