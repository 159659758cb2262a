package graft.common.grants;

import graft.common.disk.PrivateFiles;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The file of the clients that may have a session, one client per line: {@code NAME TOKEN
 * [memory=BYTES] [guest-memory=BYTES] [max-sessions=NUMBER] [device=INDEX] [cid=NUMBER]
 * [region=FILE] [domain=NAME] [sessions=own] [class=CLASS] [compute=PERCENT] [priority=PRIORITY]}.
 * The token has 64 hexadecimal digits; {@code certificate=NAME} in its place names the guest's
 * certificate; {@code sessions=own} ends the sessions of the guest's other tokens; the last three
 * are the guest's {@link Share}; {@code #} begins a comment. A server reads the file for each
 * connection, so that a change needs no restart.
 *
 * @param path the file, of mode 0600
 */
public record TokensFile(Path path) {
  private static final Object LOCK = new Object();
  private static final int TOKEN_BYTES = 32;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  /**
   * Reads the grants, by name.
   *
   * @throws IOException if the file is missing, readable by other users or invalid; the message
   *     names the line and never shows a token
   */
  public Map<String, Grant> read() throws IOException {
    List<String> lines = lines();
    Map<String, Grant> grants = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      try {
        Grant grant = Grant.parse(line);
        if (grants.put(grant.name(), grant) != null) {
          throw new IllegalArgumentException("the name " + grant.name() + " is there twice");
        }
      } catch (IllegalArgumentException e) {
        throw new IOException(path + ":" + (i + 1) + ": " + e.getMessage(), e);
      }
    }
    return grants;
  }

  /** Reads the grants. A file that does not exist contains no grants. */
  public Map<String, Grant> readIfThere() throws IOException {
    return Files.exists(path) ? read() : Map.of();
  }

  private List<String> lines() throws IOException {
    Set<PosixFilePermission> mode;
    List<String> lines;
    try {
      mode = Files.getPosixFilePermissions(path);
      lines = Files.readAllLines(path, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IOException(
          "tokens file " + path + " is not there: write it, one line NAME TOKEN a guest, mode 0600",
          e);
    } catch (CharacterCodingException e) {
      throw new IOException("tokens file " + path + " is not UTF-8 text", e);
    } catch (IOException e) {
      throw new IOException("cannot read tokens file " + path + ": " + e.getMessage(), e);
    }
    if (!OWNER_ONLY.containsAll(mode)) {
      throw new IOException(
          "tokens file "
              + path
              + " is open to others ("
              + PosixFilePermissions.toString(mode)
              + "): chmod 600 "
              + path);
    }
    return lines;
  }

  /**
   * Adds or replaces a client's line.
   *
   * @throws IllegalArgumentException if a server would reject the line
   */
  public void grant(String name, String token, String settings) throws IOException {
    String line = (name + " " + token + " " + settings).strip();
    Grant.parse(line);
    edit(lines -> lines.put(name, line));
  }

  /** Deletes a client's line, if the line exists. */
  public void revoke(String name) throws IOException {
    edit(lines -> lines.remove(name));
  }

  /** Changes the lines of the given names; invalid lines of other names stay as they are. */
  private void edit(Consumer<Map<String, String>> change) throws IOException {
    synchronized (LOCK) {
      Map<String, String> lines = new LinkedHashMap<>();
      for (String line : Files.exists(path) ? Files.readAllLines(path) : List.<String>of()) {
        if (!line.isBlank() && !line.startsWith("#")) {
          lines.put(line.strip().split("\\s+", 2)[0], line);
        }
      }
      Map<String, String> before = Map.copyOf(lines);
      change.accept(lines);
      if (!lines.equals(before)) {
        StringBuilder text = new StringBuilder();
        lines.values().forEach(line -> text.append(line).append('\n'));
        PrivateFiles.write(path, text.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  /** Generates a random token: 256 bits in 64 hexadecimal digits. */
  public static String fresh() {
    byte[] bytes = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
