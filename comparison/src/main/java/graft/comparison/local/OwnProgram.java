package graft.comparison.local;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Graft's own measuring program, {@code graft-workload}. */
public final class OwnProgram {
  /** The name of the program's file. */
  public static final String NAME = "graft-workload";

  private OwnProgram() {}

  /** The program in this installation. */
  public static Path path() {
    String home = System.getProperty("graft.home", "");
    Path program =
        Path.of(home.isEmpty() ? "." : home).toAbsolutePath().resolve("lib/compare/graft-workload");
    if (!Files.isExecutable(program)) {
      throw new GraftException("there is no " + program, "run ./graft build");
    }
    return program;
  }
}
