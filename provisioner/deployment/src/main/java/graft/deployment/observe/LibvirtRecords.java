package graft.deployment.observe;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * When libvirt's QEMU driver last wrote about a guest. The files belong to root, or to the user of
 * the session's daemon; where they cannot be seen, nothing is known.
 */
public final class LibvirtRecords {
  private LibvirtRecords() {}

  /** When the guest's definition was last written. */
  static Optional<Instant> defined(String uri, String guest) {
    return changed(uri, Path.of("/etc/libvirt/qemu"), ".config/libvirt/qemu", guest + ".xml");
  }

  /** When the guest's log was last written, which for a guest that has ended is its end. */
  public static Optional<Instant> logged(String uri, String guest) {
    return changed(
        uri, Path.of("/var/log/libvirt/qemu"), ".cache/libvirt/qemu/log", guest + ".log");
  }

  private static Optional<Instant> changed(String uri, Path system, String session, String file) {
    return switch (uri) {
      case "qemu:///system" -> CurrentUser.isRoot() ? time(system.resolve(file)) : Optional.empty();
      case "qemu:///session" ->
          time(Path.of(System.getProperty("user.home")).resolve(session).resolve(file));
      default -> Optional.empty();
    };
  }

  private static Optional<Instant> time(Path file) {
    try {
      return Optional.of(
          Files.getLastModifiedTime(file).toInstant().truncatedTo(ChronoUnit.SECONDS));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
