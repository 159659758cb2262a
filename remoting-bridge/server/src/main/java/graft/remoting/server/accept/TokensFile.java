package graft.remoting.server.accept;

import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The file of who may have a session, one a line: {@code NAME TOKEN [memory=BYTES] [device=INDEX]
 * [cid=NUMBER] [region=FILE] [domain=NAME]}, the token 64 hexadecimal digits; {@code #} begins a
 * comment. Read anew for each connection, so that a change needs no restart.
 */
public final class TokensFile implements Grants {
  /** The longest name, in bytes of UTF-8. */
  static final int MAX_NAME = 63;

  private static final int TOKEN_DIGITS = 64;
  private static final Pattern NAME = Pattern.compile("[^\\s\\p{Cntrl}#=]+");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private final Path path;

  public TokensFile(Path path) {
    this.path = path;
  }

  @Override
  public Grant of(String name) throws ServerException {
    return read().get(name);
  }

  @Override
  public Set<String> names() throws ServerException {
    return read().keySet();
  }

  /**
   * Everyone who may have a session, by name.
   *
   * @throws ServerException when the file is missing, open to others or wrong; the message names
   *     the line, never a token
   */
  public Map<String, Grant> read() throws ServerException {
    List<String> lines;
    try {
      Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
      if (!OWNER_ONLY.containsAll(mode)) {
        throw new ServerException(
            "tokens file "
                + path
                + " is open to others ("
                + PosixFilePermissions.toString(mode)
                + "): chmod 600 "
                + path);
      }
      lines = Files.readAllLines(path, StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new ServerException(
          "tokens file " + path + " is not there: write it, one line NAME TOKEN a guest, mode 0600",
          e);
    } catch (CharacterCodingException e) {
      throw new ServerException("tokens file " + path + " is not UTF-8 text", e);
    } catch (IOException e) {
      throw new ServerException("cannot read tokens file " + path + ": " + e.getMessage(), e);
    }
    Map<String, Grant> grants = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Grant grant = parse(line, i + 1);
      if (grants.put(grant.name(), grant) != null) {
        throw problem(i + 1, "the name " + grant.name() + " is there twice");
      }
    }
    return grants;
  }

  private Grant parse(String line, int number) throws ServerException {
    List<String> fields = List.of(line.split("\\s+"));
    String name = fields.get(0);
    if (!NAME.matcher(name).matches() || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME) {
      throw problem(number, "a name has at most " + MAX_NAME + " bytes and none of # =");
    }
    if (fields.size() < 2 || fields.get(1).length() != TOKEN_DIGITS) {
      throw problem(number, "after the name comes a token of 64 hexadecimal digits");
    }
    Bytes token;
    try {
      token = Bytes.of(HexFormat.of().parseHex(fields.get(1)));
    } catch (IllegalArgumentException e) {
      // Its message would show the token.
      throw problem(number, "the token is not hexadecimal");
    }
    OptionalLong memory = OptionalLong.empty();
    OptionalInt device = OptionalInt.empty();
    OptionalLong cid = OptionalLong.empty();
    String region = "";
    String domain = "";
    for (String field : fields.subList(2, fields.size())) {
      String value = field.substring(field.indexOf('=') + 1);
      if (field.startsWith("memory=") && NUMBER.matcher(value).matches()) {
        memory = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("device=")
          && NUMBER.matcher(value).matches()
          && value.length() < 5) {
        device = OptionalInt.of(Integer.parseInt(value));
      } else if (field.startsWith("cid=") && NUMBER.matcher(value).matches()) {
        cid = OptionalLong.of(Long.parseLong(value));
      } else if (field.startsWith("region=/")) {
        region = value;
      } else if (field.startsWith("domain=") && !value.isEmpty()) {
        domain = value;
      } else {
        throw problem(
            number,
            "after the token may come memory=BYTES, device=INDEX, cid=NUMBER, region=/FILE and domain=NAME only");
      }
    }
    return new Grant(name, token, memory, device, cid, region, domain);
  }

  private ServerException problem(int line, String what) {
    return new ServerException(path + ":" + line + ": " + what);
  }
}
