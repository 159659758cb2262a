package graft.cli.terminal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.IVersionProvider;

/** The version in the jar's manifest. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {line()};
  }

  /** What {@code graft --version} prints. */
  public static String line() {
    String from =
        Stream.of(noted("commit"), noted("package").map(version -> "package " + version))
            .flatMap(Optional::stream)
            .collect(Collectors.joining(", "));
    return "graft " + text() + (from.isEmpty() ? "" : " (" + from + ")");
  }

  /** What the build notes in the distribution: the commit of the sources, a package's version. */
  private static Optional<String> noted(String what) {
    Path file = Path.of(System.getProperty("graft.home", ""), "lib", what);
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
