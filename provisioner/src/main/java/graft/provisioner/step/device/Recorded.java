package graft.provisioner.step.device;

import graft.sriov.operation.Before;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** How a part of the host was before an operation, as a tree for the journal. */
final class Recorded {
  private Recorded() {}

  static Map<String, Object> write(Before before) {
    return Map.of(
        "operation", before.operation(),
        "device", before.device(),
        "values", new TreeMap<>(before.values()));
  }

  /** Empty where nothing was recorded: then nothing was begun either. */
  static Optional<Before> read(Object tree) {
    if (!(tree instanceof Map<?, ?> record) || record.isEmpty()) {
      return Optional.empty();
    }
    TreeMap<String, String> values = new TreeMap<>();
    if (record.get("values") instanceof Map<?, ?> map) {
      map.forEach((name, value) -> values.put(String.valueOf(name), String.valueOf(value)));
    }
    return Optional.of(
        new Before(
            String.valueOf(record.get("operation")), String.valueOf(record.get("device")), values));
  }
}
