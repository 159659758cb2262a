package graft.guests.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The two units of systemd that run a server: on hosts, and in guests that own a GPU. Hosts and
 * guests differ in the values for the names in braces.
 */
public enum ServerUnit {
  /** The starter of the workers, which has privileges. */
  STARTER("graft-starter"),

  /** The server, which has none. */
  SERVER("graft-server");

  private static final Pattern VALUE = Pattern.compile("\\{([a-z]+)}");

  private final String template;

  ServerUnit(String template) {
    this.template = template;
  }

  /**
   * The unit's text.
   *
   * @param values what replaces the names in braces
   * @throws IllegalArgumentException if a value is missing
   */
  public String text(Map<String, String> values) {
    Matcher name = VALUE.matcher(read());
    StringBuilder out = new StringBuilder();
    while (name.find()) {
      String value = values.get(name.group(1));
      if (value == null) {
        throw new IllegalArgumentException(
            "the unit " + template + " needs '" + name.group(1) + "'");
      }
      name.appendReplacement(out, Matcher.quoteReplacement(value));
    }
    return name.appendTail(out).toString();
  }

  private String read() {
    try (InputStream in = ServerUnit.class.getResourceAsStream(template + ".service")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The lines for the device nodes that a server may open: those of the adapters, if it uses rdma,
   * and those by which NVML watches GPUs. CUDA programs cannot use a GPU with these alone.
   */
  public static String devices(boolean rdma, boolean gpu) {
    List<String> lines = new ArrayList<>();
    if (rdma) {
      lines.add("DeviceAllow=char-infiniband_verbs rw");
      lines.add("DeviceAllow=char-rdma_cm rw");
    }
    if (gpu) {
      // The driver's name for its nodes, in older versions and in newer ones.
      lines.add("DeviceAllow=char-nvidia-frontend rw");
      lines.add("DeviceAllow=char-nvidia rw");
    }
    return lines.isEmpty()
        ? "PrivateDevices=yes"
        : "DevicePolicy=closed\n" + String.join("\n", lines);
  }

  /** A command, quoted by systemd.syntax(7). */
  public static String command(List<String> words) {
    return words.stream().map(ServerUnit::quoted).collect(Collectors.joining(" "));
  }

  private static String quoted(String word) {
    String text = word.replace("\\", "\\\\").replace("\"", "\\\"");
    return "\"" + text.replace("%", "%%").replace("$", "$$") + "\"";
  }
}
