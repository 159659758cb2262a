package graft.deployment.descriptor.gpu;

import graft.common.bind.Form;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The absolute path of a library on the machine of a GPU. Its characters have no meaning for a
 * shell, a unit of systemd or the options of graft-jail, and no part of it is {@code .} or {@code
 * ..}.
 */
@Form(
    pattern = "^/[A-Za-z0-9._+/-]+$",
    example = "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13")
public record LibraryPath(String text) {
  private static final Pattern TEXT = Pattern.compile("/[A-Za-z0-9._+/-]+");

  /** Refuses what is not such a path. */
  public LibraryPath {
    if (!TEXT.matcher(text).matches() || !Path.of(text).normalize().toString().equals(text)) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' is not an absolute path of letters, digits, '.', '_', '-' and '+', without empty"
              + " parts, '.' and '..'");
    }
  }

  public static LibraryPath parse(String text) {
    return new LibraryPath(text);
  }

  public Path path() {
    return Path.of(text);
  }

  @Override
  public String toString() {
    return text;
  }
}
