package graft.deployment.step.host;

import graft.deployment.state.ServerFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The units of a server: its starter, which has privileges, and the server, which has none. */
public final class ServerUnits {
  private ServerUnits() {}

  /** The name of the starter's unit. */
  public static String starter(ServerFolder folder) {
    return "graft-starter@" + folder.instance() + ".service";
  }

  /** The name of the server's unit. */
  public static String server(ServerFolder folder) {
    return "graft-server@" + folder.instance() + ".service";
  }

  /**
   * A unit's text: the template of that name, with the values for its names in braces.
   *
   * @param template graft-starter or graft-server
   */
  static String text(String template, Map<String, String> values) {
    String text;
    try (InputStream in = ServerUnits.class.getResourceAsStream(template + "@.service")) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (Map.Entry<String, String> value : values.entrySet()) {
      text = text.replace("{" + value.getKey() + "}", value.getValue());
    }
    return text;
  }

  /** A command, quoted by systemd.syntax(7). */
  static String command(List<String> words) {
    return words.stream().map(ServerUnits::quoted).collect(Collectors.joining(" "));
  }

  /** One word of a command. */
  static String quoted(String word) {
    String text = word.replace("\\", "\\\\").replace("\"", "\\\"");
    return "\"" + text.replace("%", "%%").replace("$", "$$") + "\"";
  }
}
