package graft.cli.host;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A specification of the Container Device Interface: vGPUs that container engines give to
 * containers by name.
 *
 * <p>Its version is the lowest that has everything which is used here, as the interface asks for:
 * engines refuse versions that they do not know (Podman of Debian 12 knows 0.5.0), and newer ones
 * read all older ones.
 *
 * @param devices the edits of containers, by the devices' names
 * @see <a
 *     href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">SPEC.md</a>
 */
record CdiSpec(Map<String, Object> devices) {
  /** The kind of its devices: {@code podman run --device graft.dev/vgpu=NAME}. */
  static final String KIND = "graft.dev/vgpu";

  /** Where the hook expects the client in the container. */
  static final String CLIENT = "/usr/lib/graft";

  private static final String VERSION = "0.5.0";
  private static final String DEVICE_NAME = "[A-Za-z0-9]([A-Za-z0-9_.:-]{0,61}[A-Za-z0-9])?";
  private static final List<String> READ_ONLY = List.of("ro", "nosuid", "nodev", "rbind");

  /** Copies the devices, in the order of their names. */
  CdiSpec {
    devices = new TreeMap<>(devices);
  }

  /**
   * A file or folder of this machine in the container.
   *
   * @param here its path on this machine
   * @param there its path in the container
   */
  record Mount(Path here, String there) {
    private Map<String, Object> tree() {
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("hostPath", here.toString());
      tree.put("containerPath", there);
      tree.put("options", READ_ONLY);
      return tree;
    }
  }

  /** Whether a device may have the name. */
  static boolean isName(String name) {
    return name.matches(DEVICE_NAME);
  }

  /**
   * Reads what {@link #text} wrote.
   *
   * @throws IllegalArgumentException if the text is something else
   * @throws IOException if it is no JSON
   */
  static CdiSpec read(String text) throws IOException {
    Map<String, Object> tree = Json.readObject(text);
    if (!KIND.equals(tree.get("kind")) || !(tree.get("devices") instanceof List<?> list)) {
      throw new IllegalArgumentException("it has no devices of the kind " + KIND);
    }
    Map<String, Object> devices = new TreeMap<>();
    for (Object one : list) {
      if (!(one instanceof Map<?, ?> device)
          || !(device.get("name") instanceof String name)
          || !isName(name)
          || !(device.get("containerEdits") instanceof Map<?, ?> edits)) {
        throw new IllegalArgumentException("one of its devices is none");
      }
      devices.put(name, edits);
    }
    return new CdiSpec(devices);
  }

  /**
   * This one with one more device, or another one in the place of that name.
   *
   * @param variables of the container's programs
   * @param hook the program that links the client where the container's loader looks
   */
  CdiSpec with(String name, List<Mount> mounts, Map<String, String> variables, Path hook) {
    Map<String, Object> edits = new LinkedHashMap<>();
    if (!variables.isEmpty()) {
      List<String> env = new ArrayList<>();
      variables.forEach((variable, value) -> env.add(variable + "=" + value));
      edits.put("env", env);
    }
    edits.put("mounts", mounts.stream().map(Mount::tree).toList());
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("hookName", "createContainer");
    run.put("path", hook.toString());
    edits.put("hooks", List.of(run));
    Map<String, Object> more = new TreeMap<>(devices);
    more.put(name, edits);
    return new CdiSpec(more);
  }

  /** This one without a device. */
  CdiSpec without(String name) {
    Map<String, Object> fewer = new TreeMap<>(devices);
    fewer.remove(name);
    return new CdiSpec(fewer);
  }

  /** The text of the file: JSON, which is YAML too. */
  String text() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("cdiVersion", VERSION);
    tree.put("kind", KIND);
    List<Object> list = new ArrayList<>();
    devices.forEach(
        (name, edits) -> {
          Map<String, Object> one = new LinkedHashMap<>();
          one.put("name", name);
          one.put("containerEdits", edits);
          list.add(one);
        });
    tree.put("devices", list);
    return Json.pretty(tree) + "\n";
  }
}
