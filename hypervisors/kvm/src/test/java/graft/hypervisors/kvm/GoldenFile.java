package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Expected output in a file. With {@code -Dgolden.update=true} a test writes the file, for review.
 */
final class GoldenFile {

  private static final Path FOLDER = Path.of("src/test/resources/graft/hypervisors/kvm");

  private GoldenFile() {}

  static void check(String name, String actual) {
    Path file = FOLDER.resolve(name);
    try {
      if (Boolean.getBoolean("golden.update")) {
        Files.createDirectories(FOLDER);
        Files.writeString(file, actual);
      }
      assertThat(actual).as("see %s", file).isEqualTo(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
