package graft.remoting.server.jail;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The means by which a server's workers are confined on this host.
 *
 * @param parts the parts of the jail, by {@code graft-jail}'s names
 * @param missing the parts that the host does not allow, and why
 */
public record Isolation(Set<String> parts, Map<String, String> missing) {
  /**
   * The user namespace is not a protection of its own, but what a server without root needs for the
   * others.
   */
  private static final String USER_NAMESPACE = "user-namespace";

  /**
   * Not a protection either: with it, sessions of one guest share files of NVIDIA's driver although
   * each is another user.
   */
  private static final String GUEST_FOLDER = "guest-folder";

  /** Copies the collections. */
  public Isolation {
    parts = java.util.Collections.unmodifiableSet(new LinkedHashSet<>(parts));
    missing = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(missing));
  }

  /** Returns an isolation without any means. */
  public static Isolation none(String why) {
    return new Isolation(Set.of(), Map.of("jail", why));
  }

  /**
   * Parses the output of {@code graft-jail --check}: lines of {@code PART ok} or {@code PART WHY}.
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

  /** Returns the same isolation without one part, and why it is missing. */
  Isolation without(String part, String why) {
    Set<String> fewer = new LinkedHashSet<>(parts);
    fewer.remove(part);
    Map<String, String> more = new LinkedHashMap<>(missing);
    more.put(part, why);
    return new Isolation(fewer, more);
  }

  /** Returns whether no protection is missing. */
  public boolean isComplete() {
    return Set.of(GUEST_FOLDER).containsAll(missing.keySet());
  }

  /** Returns whether the sessions of a guest can share a folder. */
  public boolean hasGuestFolders() {
    return parts.containsAll(Set.of(GUEST_FOLDER, "user", "mounts"));
  }

  /** Returns whether a part is present. */
  public boolean has(String part) {
    return parts.contains(part);
  }

  /** Returns a line for users. */
  public String describe() {
    String has =
        parts.stream()
            .filter(p -> !p.equals(USER_NAMESPACE) && !p.equals(GUEST_FOLDER))
            .collect(Collectors.joining(", "));
    String line = has.isEmpty() ? "workers are not confined" : "workers are confined by: " + has;
    if (!isComplete()) {
      line += "; missing: " + describeMissing();
    }
    return missing.containsKey(GUEST_FOLDER)
        ? line
            + "; on a GPU the processes of a guest cannot share CUDA events ("
            + missing.get(GUEST_FOLDER)
            + ")"
        : line;
  }

  /** Returns the protections that are missing, and why. */
  public String describeMissing() {
    return missing.entrySet().stream()
        .filter(e -> !e.getKey().equals(GUEST_FOLDER))
        .map(e -> e.getKey() + " (" + e.getValue() + ")")
        .collect(Collectors.joining(", "));
  }
}
