package graft.remoting.server.jail;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The program that starts workers, {@code graft-jail} (remoting-bridge/jail). */
final class JailProgram {
  private static final String NAME = "graft-jail";

  /** The property that names the program if it is not beside the server's jar. */
  private static final String PROPERTY = "graft.jail";

  private final Path path;

  private JailProgram(Path path) {
    this.path = path;
  }

  /** Finds the program in a distribution or in a checkout that has been built. */
  static Optional<JailProgram> find() {
    return candidates()
        .filter(Files::isExecutable)
        .findFirst()
        .map(path -> new JailProgram(path.toAbsolutePath()));
  }

  private static Stream<Path> candidates() {
    String named = System.getProperty(PROPERTY);
    if (named != null) {
      return Stream.of(Path.of(named));
    }
    CodeSource source = JailProgram.class.getProtectionDomain().getCodeSource();
    try {
      // lib/graft-server.jar; remoting-bridge/server/target/classes, or a jar beside it
      Path code = Path.of(source.getLocation().toURI());
      return Stream.of(
          code.resolveSibling(NAME), code.resolve("../../../jail/target/" + NAME).normalize());
    } catch (URISyntaxException | IllegalArgumentException e) {
      return Stream.empty();
    }
  }

  Path path() {
    return path;
  }

  /**
   * Has the program try which parts of a jail the host allows.
   *
   * @param options the options of a worker's jail
   */
  Isolation check(List<String> options) {
    List<String> command = new ArrayList<>(List.of(path.toString(), "--check"));
    command.addAll(options);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(new File("/dev/null"))
              .redirectErrorStream(true)
              .start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0
          ? Isolation.parse(printed.lines().toList())
          : Isolation.none(printed.strip());
    } catch (IOException e) {
      return Isolation.none("cannot run " + path + ": " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Isolation.none("interrupted");
    }
  }
}
