package graft.cli.terminal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {line()};
  }

  /** What {@code graft --version} prints. */
  public static String line() {
    return "graft " + text() + commit().map(id -> " (" + id + ")").orElse("");
  }

  /** The commit of the sources, which the build notes in the distribution. */
  private static Optional<String> commit() {
    Path file = Path.of(System.getProperty("graft.home", ""), "lib", "commit");
    try {
      return Optional.of(Files.readString(file).strip());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  public static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "(unpackaged)" : version;
  }
}
