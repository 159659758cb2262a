package graft.deployment.hosts;

import graft.common.json.Json;
import graft.common.values.Name;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What the operator's Graft asks of the Graft of a host: one JSON object on standard input, since
 * it has secrets.
 *
 * @param descriptor of the host, as a tree; empty for a command that needs none
 * @param files the contents of the files with tokens that the descriptor names, by their names
 * @param apply identifies the apply, that undo may know it; empty for other commands
 */
public record HostRequest(
    Command command,
    Name deployment,
    Map<String, Object> descriptor,
    Map<String, String> files,
    String apply,
    boolean deleteData,
    boolean keepOnFailure) {
  /** The most characters of a request. */
  public static final int MOST = 16 << 20;

  private static final long VERSION = 1;
  private static final Pattern FILE = Pattern.compile("[a-z0-9][a-z0-9.-]{0,200}\\.token");
  private static final Pattern TOKEN = Pattern.compile("[!-~]{1,512}");
  private static final Pattern ID = Pattern.compile("[0-9a-f-]{0,64}");

  /** The commands. */
  public enum Command {
    PLAN,
    APPLY,
    STATUS,
    UNDO,
    DESTROY,
    /** Interrupts the command that works on the deployment. */
    INTERRUPT;

    /** Whether the command reads the descriptor. */
    boolean describes() {
      return this == PLAN || this == APPLY || this == STATUS;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Refuses names and contents of files that Graft does not make. */
  public HostRequest {
    files = Map.copyOf(files);
    files.forEach(
        (name, content) -> {
          if (!FILE.matcher(name).matches() || !isToken(content)) {
            throw new IllegalArgumentException("'" + name + "' is no file with a token");
          }
        });
    if (!ID.matcher(apply).matches()) {
      throw new IllegalArgumentException("the apply has no proper id");
    }
  }

  /** Whether a text can be a token. */
  static boolean isToken(String text) {
    return TOKEN.matcher(text).matches();
  }

  /** A request without a descriptor. */
  public static HostRequest of(Command command, Name deployment, String apply, boolean delete) {
    return new HostRequest(command, deployment, Map.of(), Map.of(), apply, delete, false);
  }

  /** As one line of JSON. */
  public String toJson() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("request", VERSION);
    tree.put("command", command.toString());
    tree.put("deployment", deployment.text());
    tree.put("apply", apply);
    tree.put("deleteData", deleteData);
    tree.put("keepOnFailure", keepOnFailure);
    tree.put("descriptor", descriptor);
    tree.put("files", files);
    return Json.line(tree);
  }

  /**
   * Reads a request.
   *
   * @throws IOException if it is none of this version
   */
  public static HostRequest parse(String json) throws IOException {
    Map<String, Object> tree = Json.readObject(json);
    try {
      if (!Long.valueOf(VERSION).equals(tree.get("request"))) {
        throw new IllegalArgumentException("its version is " + tree.get("request"));
      }
      Map<String, String> files = new LinkedHashMap<>();
      map(tree, "files").forEach((name, content) -> files.put(name, (String) content));
      return new HostRequest(
          Command.valueOf(((String) tree.get("command")).toUpperCase(Locale.ROOT)),
          Name.parse((String) tree.get("deployment")),
          map(tree, "descriptor"),
          files,
          (String) tree.get("apply"),
          (Boolean) tree.get("deleteData"),
          (Boolean) tree.get("keepOnFailure"));
    } catch (IllegalArgumentException | ClassCastException | NullPointerException e) {
      throw new IOException("standard input is no request of graft: " + e.getMessage(), e);
    }
  }

  private static Map<String, Object> map(Map<String, Object> tree, String key) {
    Map<String, Object> typed = new LinkedHashMap<>();
    ((Map<?, ?>) tree.get(key)).forEach((name, value) -> typed.put((String) name, value));
    return typed;
  }
}
