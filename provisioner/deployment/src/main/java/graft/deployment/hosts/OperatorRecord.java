package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.common.json.Json;
import graft.common.program.CurrentUser;
import graft.common.values.Name;
import graft.deployment.state.StateFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the operator's machine keeps of a deployment over many hosts: which hosts may have something
 * of it, the last apply, and the tokens. What was done on a host is in that host's journal alone.
 *
 * @param descriptor the file that was applied last; empty if none was
 * @param apply identifies the last apply; empty if there was none
 * @param open whether that apply has not succeeded yet
 * @param tokens by guest and GPU
 */
record OperatorRecord(
    String descriptor,
    String apply,
    boolean open,
    List<KnownHost> hosts,
    Map<String, String> tokens) {
  private static final long VERSION = 1;
  private static final OperatorRecord NONE = new OperatorRecord("", "", false, List.of(), Map.of());

  OperatorRecord {
    hosts = List.copyOf(hosts);
    tokens = Map.copyOf(tokens);
  }

  /** The folder of a deployment's record, which need not exist. */
  static StateFolder folder(Name deployment) {
    Path all = CurrentUser.stateFolder(System.getenv()).resolve(".operated");
    return new StateFolder(deployment, all.resolve(deployment.text()));
  }

  private static Path file(StateFolder folder) {
    return folder.path().resolve("hosts.json");
  }

  /** Whether there is a record. */
  static boolean exists(StateFolder folder) {
    return Files.exists(file(folder));
  }

  /**
   * Reads a record.
   *
   * @throws GraftException if it is damaged
   */
  static OperatorRecord read(StateFolder folder) {
    if (!exists(folder)) {
      return NONE;
    }
    Path file = file(folder);
    try {
      Map<String, Object> tree = Json.readObject(Files.readString(file));
      if (!Long.valueOf(VERSION).equals(tree.get("version"))) {
        throw new GraftException(
            file + " is of another version of Graft: " + tree.get("version"),
            "use the Graft that wrote it");
      }
      List<KnownHost> hosts = new ArrayList<>();
      ((List<?>) tree.get("hosts")).forEach(one -> hosts.add(KnownHost.parse((Map<?, ?>) one)));
      Map<String, String> tokens = new TreeMap<>();
      ((Map<?, ?>) tree.get("tokens"))
          .forEach((key, token) -> tokens.put((String) key, (String) token));
      return new OperatorRecord(
          (String) tree.get("descriptor"),
          (String) tree.get("apply"),
          (Boolean) tree.get("open"),
          hosts,
          tokens);
    } catch (IOException | IllegalArgumentException | ClassCastException | NullPointerException e) {
      throw new GraftException(
          "the record " + file + " is damaged: " + e.getMessage(),
          "move it away; graft apply with the descriptor writes it again, with new tokens",
          e);
    }
  }

  /**
   * Writes the record; if it cannot be written, the earlier one stays.
   *
   * @param next what the message says to do then, and what has been done
   */
  void write(StateFolder folder, String next) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("version", VERSION);
    tree.put("descriptor", descriptor);
    tree.put("apply", apply);
    tree.put("open", open);
    tree.put("hosts", hosts.stream().map(KnownHost::toTree).toList());
    tree.put("tokens", tokens);
    try {
      StateDisk.get().makeFolders(folder.path());
      PrivateFiles.write(file(folder), (Json.pretty(tree) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new GraftException("cannot write " + file(folder) + ": " + e.getMessage(), next, e);
    }
  }

  static void delete(StateFolder folder) {
    try {
      PrivateFiles.deleteFolder(folder.path());
    } catch (IOException e) {
      throw new GraftException("cannot delete " + folder.path() + ": " + e.getMessage(), "", e);
    }
  }

  OperatorRecord withHosts(List<KnownHost> given) {
    return new OperatorRecord(descriptor, apply, open, given, tokens);
  }

  OperatorRecord withTokens(Map<String, String> given) {
    return new OperatorRecord(descriptor, apply, open, hosts, given);
  }

  OperatorRecord withApply(String path, String id, boolean isOpen) {
    return new OperatorRecord(path, id, isOpen, hosts, tokens);
  }
}
