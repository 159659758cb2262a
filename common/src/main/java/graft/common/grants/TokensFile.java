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
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The file of the clients that may have a session, one client per line: {@code NAME TOKEN
 * [memory=BYTES] [guest-memory=BYTES] [max-sessions=NUMBER] [device=INDEX] [cid=NUMBER]
 * [region=FILE] [domain=NAME] [sessions=own] [expires=SECONDS] [class=CLASS] [compute=PERCENT]
 * [priority=PRIORITY]}. The token has 64 hexadecimal digits; {@code certificate=NAME} in its place
 * names the guest's certificate; {@code sessions=own} ends the sessions of the guest's other
 * tokens; {@code expires} is the second of Unix time from which the line counts as deleted; the
 * last three are the guest's {@link Share}; {@code #} begins a comment. A server reads the file for
 * each connection, so that a change needs no restart.
 *
 * @param path the file, of mode 0600
 */
public record TokensFile(Path path) {
  private static final Object LOCK = new Object();
  private static final int TOKEN_BYTES = 32;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  /**
   * Reads the grants, by name, for whoever changes the file.
   *
   * @throws IOException if the file is missing, readable by other users or invalid in any line; the
   *     message names the line and never shows a token
   */
  public Map<String, Grant> read() throws IOException {
    TokenLines lines = readLines();
    if (!lines.wrong().isEmpty()) {
      throw new IOException(describe(lines.wrong().get(0)));
    }
    return lines.grants();
  }

  /**
   * Reads each line for itself, for a server, whose other guests a wrong line must not harm.
   *
   * @throws IOException if the file is missing, readable by other users, or not text
   */
  public TokenLines readLines() throws IOException {
    return TokenLines.of(lines());
  }

  /** Returns where a wrong line is and what is wrong with it. */
  public String describe(TokenLines.WrongLine line) {
    return path + ":" + line.number() + ": " + line.reason();
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
    edit(name, Optional.of(line));
  }

  /** Deletes a client's line, if the line exists. */
  public void revoke(String name) throws IOException {
    edit(name, Optional.empty());
  }

  /**
   * Replaces the lines of a name by one line or none; all others, comments and wrong lines among
   * them, stay as they are.
   */
  private void edit(String name, Optional<String> line) throws IOException {
    synchronized (LOCK) {
      List<String> before =
          Files.exists(path) ? Files.readAllLines(path, StandardCharsets.UTF_8) : List.of();
      List<String> after = new ArrayList<>();
      Optional<String> left = line;
      for (String each : before) {
        if (TokenLines.isComment(each) || !TokenLines.name(each).equals(name)) {
          after.add(each);
        } else if (left.isPresent()) {
          after.add(left.get());
          left = Optional.empty();
        }
      }
      left.ifPresent(after::add);
      if (!after.equals(before)) {
        StringBuilder text = new StringBuilder();
        after.forEach(each -> text.append(each).append('\n'));
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
