package graft.sriov.operation;

import graft.common.values.PciAddress;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads the result of {@link DeviceChange#before}: texts by name. An absent text stands for an
 * absent value.
 */
record Saved(Map<String, Object> values) {
  /** The values, with the device's address for readers of the journal. */
  static Map<String, Object> of(PciAddress device, Map<String, String> values) {
    Map<String, Object> saved = new TreeMap<>(values);
    saved.put("device", device.toString());
    return saved;
  }

  Optional<String> value(String name) {
    return Optional.ofNullable(values.get(name)).map(String::valueOf);
  }

  int number(String name) {
    return value(name).map(Integer::parseInt).orElse(0);
  }

  /** The values whose names begin with a prefix, with the prefix removed from the names. */
  Map<String, String> below(String prefix) {
    Map<String, String> below = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            below.put(name.substring(prefix.length()), String.valueOf(value));
          }
        });
    return below;
  }
}
