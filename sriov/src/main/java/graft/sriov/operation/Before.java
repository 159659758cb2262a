package graft.sriov.operation;

import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How a part of the host was before an operation: plain text, for a journal.
 *
 * @param operation the name of the operation's class, {@code SetVfCount}
 * @param device the PCI address that it is about
 * @param values what was there, by name; what is not here was not there
 */
public record Before(String operation, String device, SortedMap<String, String> values) {
  public Before {
    values = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  Before(Class<? extends Operation> operation, Object device, Map<String, String> values) {
    this(operation.getSimpleName(), device.toString(), new TreeMap<>(values));
  }

  Optional<String> value(String name) {
    return Optional.ofNullable(values.get(name));
  }

  int number(String name) {
    return value(name).map(Integer::parseInt).orElse(0);
  }

  /** The values whose names begin with a prefix, without it. */
  Map<String, String> below(String prefix) {
    Map<String, String> below = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            below.put(name.substring(prefix.length()), value);
          }
        });
    return below;
  }
}
