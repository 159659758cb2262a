package graft.distribution;

import java.nio.file.Path;

/** The paths of the build's results for the tests. */
final class Checkout {
  static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  static final Path HOME = ROOT.resolve("target/graft");
  static final Path ARCHIVE = ROOT.resolve("target/graft-linux-x86_64.tar.gz");
  static final Path PROGRAMS = ROOT.resolve("examples/built");

  private Checkout() {}
}
