package graft.guests.payload;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file that goes into a guest. Exactly one of source, text and secret is present.
 *
 * @param path the absolute path in the guest
 * @param mode permission bits
 * @param group a group in the guest, which is created if missing
 * @param source a file of the host
 * @param text the content itself
 * @param secret a file of the host whose content and time are absent from plans and journals
 */
public record PayloadFile(
    String path,
    int mode,
    String group,
    Optional<FileStamp> source,
    Optional<String> text,
    Optional<Path> secret) {
  private static final String ROOT = "root";

  public static PayloadFile of(FileStamp source, String path, int mode) {
    return new PayloadFile(
        path, mode, ROOT, Optional.of(source), Optional.empty(), Optional.empty());
  }

  public static PayloadFile text(String text, String path, int mode) {
    return new PayloadFile(path, mode, ROOT, Optional.empty(), Optional.of(text), Optional.empty());
  }

  public static PayloadFile secret(Path secret, String path, int mode) {
    return new PayloadFile(
        path, mode, ROOT, Optional.empty(), Optional.empty(), Optional.of(secret));
  }

  public PayloadFile inGroup(String name) {
    return new PayloadFile(path, mode, name, source, text, secret);
  }

  /** The host's file; empty for a text. */
  public Optional<Path> file() {
    return source.map(FileStamp::path).or(() -> secret);
  }

  /**
   * The content that is written into the guest.
   *
   * @throws GraftException if the host's file cannot be read
   */
  Content content() {
    if (text.isPresent()) {
      return Content.of(text.get());
    }
    Path file = file().orElseThrow();
    if (!Files.isReadable(file)) {
      throw new GraftException(
          "cannot read " + file + " for the guest", "make it readable, then apply again");
    }
    return Content.of(file);
  }
}
