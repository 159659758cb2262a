package graft.deployment.journal;

import java.util.LinkedHashMap;
import java.util.Map;

/** Converts records of version 1 to the present version. */
final class FormerRecords {
  private FormerRecords() {}

  /**
   * The saved values of a step. In version 1, changes of devices wrote them as {@code {operation:
   * CLASS, device: ADDRESS, values: {...}}}, and a step of two changes had one of these under each
   * of two names. Now they are the values of all changes, beside the device.
   */
  static Map<String, Object> before(Map<String, Object> tree) {
    if (tree.containsKey("operation") && tree.get("values") instanceof Map<?, ?> values) {
      Map<String, Object> before = new LinkedHashMap<>();
      before.put("device", tree.get("device"));
      values.forEach((name, value) -> before.put(String.valueOf(name), value));
      return before;
    }
    Map<String, Object> before = new LinkedHashMap<>();
    tree.forEach(
        (name, value) -> {
          if (value instanceof Map<?, ?> map && map.containsKey("operation")) {
            Map<String, Object> inner = new LinkedHashMap<>();
            map.forEach((key, one) -> inner.put(String.valueOf(key), one));
            before.putAll(before(inner));
          } else {
            before.put(name, value);
          }
        });
    return before;
  }
}
