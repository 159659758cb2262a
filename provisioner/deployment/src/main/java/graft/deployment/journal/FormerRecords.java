package graft.deployment.journal;

import java.util.LinkedHashMap;
import java.util.Map;

/** Reads records of journals of version 1 as those of today. */
final class FormerRecords {
  private FormerRecords() {}

  /**
   * What was before a step. Changes of devices said it as {@code {operation: CLASS, device:
   * ADDRESS, values: {...}}}, and a step of two changes had one of these under each of two names.
   * Today it is the values of all of them, beside the device.
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
