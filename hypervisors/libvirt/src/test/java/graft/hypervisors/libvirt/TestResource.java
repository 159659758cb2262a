package graft.hypervisors.libvirt;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Files beside the tests. */
final class TestResource {

  private TestResource() {}

  static String text(String name) {
    try (InputStream in = TestResource.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
