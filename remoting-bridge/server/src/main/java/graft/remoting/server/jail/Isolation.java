package graft.remoting.server.jail;

import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What contains the workers of a server on this machine.
 *
 * @param parts what a jail is made of, by {@code graft-jail}'s names
 * @param missing what the machine does not give, and why
 */
public record Isolation(Set<String> parts, Map<String, String> missing) {
  /** What is not a part of its own, but the means of a server without root. */
  private static final String USER_NAMESPACE = "user-namespace";

  /** Copies. */
  public Isolation {
    parts = java.util.Collections.unmodifiableSet(new LinkedHashSet<>(parts));
    missing = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(missing));
  }

  /** What a server that is started here, by this user, can confine its workers by. */
  public static Isolation ofThisMachine() {
    try (WorkerJail jail = WorkerJail.open(JailConfig.defaults())) {
      return jail.isolation();
    } catch (IOException | ServerException e) {
      return none(e.getMessage());
    }
  }

  /** There is none at all. */
  public static Isolation none(String why) {
    return new Isolation(Set.of(), Map.of("jail", why));
  }

  /**
   * Reads what {@code graft-jail --check} printed: lines of {@code PART ok} or {@code PART WHY}.
   */
  public static Isolation parse(List<String> lines) {
    Set<String> parts = new LinkedHashSet<>();
    Map<String, String> missing = new LinkedHashMap<>();
    for (String line : lines) {
      int space = line.indexOf(' ');
      if (space > 0 && line.substring(space + 1).equals("ok")) {
        parts.add(line.substring(0, space));
      } else if (space > 0) {
        missing.put(line.substring(0, space), line.substring(space + 1));
      }
    }
    return parts.isEmpty() && missing.isEmpty()
        ? none("graft-jail --check printed nothing")
        : new Isolation(parts, missing);
  }

  /** The same without a part, and why. */
  Isolation without(String part, String why) {
    Set<String> fewer = new LinkedHashSet<>(parts);
    fewer.remove(part);
    Map<String, String> more = new LinkedHashMap<>(missing);
    more.put(part, why);
    return new Isolation(fewer, more);
  }

  /** Whether nothing is missing. */
  public boolean isComplete() {
    return missing.isEmpty();
  }

  /** Whether it has a part. */
  public boolean has(String part) {
    return parts.contains(part);
  }

  /** One line for people. */
  public String describe() {
    String has =
        parts.stream().filter(p -> !p.equals(USER_NAMESPACE)).collect(Collectors.joining(", "));
    String line = has.isEmpty() ? "workers are not confined" : "workers are confined by: " + has;
    return missing.isEmpty() ? line : line + "; missing: " + describeMissing();
  }

  /** What is missing, and why. */
  public String describeMissing() {
    return missing.entrySet().stream()
        .map(e -> e.getKey() + " (" + e.getValue() + ")")
        .collect(Collectors.joining(", "));
  }
}
