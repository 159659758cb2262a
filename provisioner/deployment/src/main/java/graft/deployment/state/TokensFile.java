package graft.deployment.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The list of clients that may use a server: lines of {@code NAME HEXTOKEN [KEY=VALUE...]}, mode
 * 0600. The server reads it again for every connection, so that removing a line revokes the access.
 */
public final class TokensFile {
  private static final Object LOCK = new Object();
  private static final int TOKEN_BYTES = 32;

  private TokensFile() {}

  /**
   * The grants: the rest of each line by its name, beginning with the token.
   *
   * @throws IOException if the file cannot be read; a file that does not exist grants nothing
   */
  public static Map<String, String> read(Path file) throws IOException {
    Map<String, String> lines = new LinkedHashMap<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        int space = line.indexOf(' ');
        if (space > 0 && line.charAt(0) != '#') {
          lines.put(line.substring(0, space), line.substring(space + 1).strip());
        }
      }
    }
    return lines;
  }

  /** Sets a client's line. */
  public static void grant(Path file, String name, String token, String settings)
      throws IOException {
    synchronized (LOCK) {
      Map<String, String> lines = read(file);
      lines.put(name, settings.isEmpty() ? token : token + " " + settings);
      write(file, lines);
    }
  }

  /** Removes a client's line, if it exists. */
  public static void revoke(Path file, String name) throws IOException {
    synchronized (LOCK) {
      Map<String, String> lines = read(file);
      if (lines.remove(name) != null) {
        write(file, lines);
      }
    }
  }

  private static void write(Path file, Map<String, String> lines) throws IOException {
    StringBuilder text = new StringBuilder();
    lines.forEach((name, rest) -> text.append(name).append(' ').append(rest).append('\n'));
    PrivateFiles.write(file, text.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** A random token: 256 bits in 64 hexadecimal digits. */
  public static String fresh() {
    byte[] bytes = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
