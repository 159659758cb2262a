package graft.cli.host;

import graft.common.GraftException;
import graft.common.program.CurrentUser;
import graft.deployment.descriptor.gpu.LibraryPath;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import picocli.CommandLine.Option;

/** The profiling library that {@code graft serve} gives its workers. */
final class ProfilingSettings {
  private static final String NAME = "libcupti.so.13";
  private static final String USUAL = "/usr/local/cuda/extras/CUPTI/lib64";

  @Option(
      names = "--profiler-library",
      paramLabel = "PATH",
      description =
          "The absolute path of NVIDIA's profiling library: "
              + NAME
              + ", usually in "
              + USUAL
              + ". With it, programs with a profiler learn when their kernels ran, also those of"
              + " graphs; without it they get the times of events around each piece of work. See"
              + " docs/profilers.md.")
  LibraryPath library;

  /**
   * Adds the library to what workers see.
   *
   * @throws GraftException if they cannot read it
   */
  JailConfig addTo(JailConfig jail) {
    if (library == null) {
      return jail;
    }
    Path path = library.path();
    if (!Files.isRegularFile(path)) {
      throw unusable(
          Files.exists(path) ? "it is no file" : "there is no such file",
          "name NVIDIA's "
              + NAME
              + ", usually "
              + USUAL
              + "/"
              + NAME
              + ", or leave the option out");
    }
    if (!workersRead(path)) {
      throw unusable(
          "the users that workers run as cannot read it", "chmod o+r " + path + ", or copy it");
    }
    return jail.withProfiler(path);
  }

  private GraftException unusable(String why, String next) {
    return new GraftException(
        "workers cannot load the profiling library " + library + ": " + why, next);
  }

  /** The workers of root's server are other users; without privileges they are this one. */
  private static boolean workersRead(Path path) {
    if (!CurrentUser.isRoot()) {
      return Files.isReadable(path);
    }
    try {
      return Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_READ);
    } catch (IOException e) {
      return false;
    }
  }
}
