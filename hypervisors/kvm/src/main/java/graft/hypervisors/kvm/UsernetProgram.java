package graft.hypervisors.kvm;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The program {@code graft-usernet} ({@code hypervisors/kvm/usernet}): the network of guests that
 * may reach one server and nothing else.
 *
 * @param path the program's file
 */
public record UsernetProgram(Path path) {
  private static final String NAME = "graft-usernet";

  /** Finds the program in a distribution or in a checkout that has been built. */
  public static Optional<UsernetProgram> find() {
    return candidates()
        .filter(Files::isExecutable)
        .findFirst()
        .map(path -> new UsernetProgram(path.toAbsolutePath()));
  }

  private static Stream<Path> candidates() {
    try {
      // lib/graft-kvm.jar; hypervisors/kvm/target/classes, or a jar beside it
      Path code =
          Path.of(UsernetProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return Stream.of(
          code.resolveSibling(NAME), code.resolve("../../usernet/target/" + NAME).normalize());
    } catch (URISyntaxException | IllegalArgumentException e) {
      return Stream.empty();
    }
  }

  /** Why guests cannot have a closed network on this host; empty if they can. */
  public static Optional<String> obstacle() {
    return find()
        .map(UsernetProgram::check)
        .orElse(Optional.of("the program " + NAME + " is not there"));
  }

  /** What the program itself says. */
  private Optional<String> check() {
    try {
      Process process =
          new ProcessBuilder(path.toString(), "--check")
              .redirectInput(new File("/dev/null"))
              .redirectErrorStream(true)
              .start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? Optional.empty() : Optional.of(printed.strip());
    } catch (IOException e) {
      return Optional.of("cannot run " + path + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("interrupted");
    }
  }

  /**
   * The command that serves guests.
   *
   * @param port the port of the loopback to which QEMU connects the guests' cards
   * @param server the server's address, HOST:PORT
   * @param guestPort the server's port for guests
   */
  public List<String> serve(int port, String server, int guestPort, Path pidFile) {
    return List.of(
        path.toString(),
        "serve",
        "--listen",
        "127.0.0.1:" + port,
        "--to",
        server,
        "--guest-port",
        String.valueOf(guestPort),
        "--pid-file",
        pidFile.toString());
  }
}
