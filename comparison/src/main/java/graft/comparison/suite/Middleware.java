package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * The middleware between the program and the driver. {@code graft} is Graft's own and needs no
 * preparation. The user installs other middleware and starts its server before the comparison.
 *
 * @param library the folder that the loader searches first for the program's libraries
 * @param environment further variables, each {@code NAME=VALUE}
 */
public record Middleware(String name, Optional<String> library, List<String> environment) {
  /** Graft's own middleware. */
  public static final Middleware GRAFT = new Middleware("graft", Optional.empty(), List.of());

  public boolean isGraft() {
    return name.equals(GRAFT.name);
  }
}
