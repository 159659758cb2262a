package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * What lies between the program and the driver. {@code graft} is Graft's own and needs nothing
 * more; another one is installed, and its server started, by whoever runs the comparison.
 *
 * @param library the folder that the program finds its libraries in first
 * @param environment further settings, each {@code NAME=VALUE}
 */
public record Middleware(String name, Optional<String> library, List<String> environment) {
  /** Graft's own. */
  public static final Middleware GRAFT = new Middleware("graft", Optional.empty(), List.of());

  public boolean isGraft() {
    return name.equals(GRAFT.name);
  }
}
