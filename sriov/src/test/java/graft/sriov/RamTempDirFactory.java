package graft.sriov;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Creates temporary folders in memory if the machine has a memory file system: a fake host consists
 * of thousands of small files, and memory makes the property tests several times as fast as a busy
 * disk.
 */
public final class RamTempDirFactory implements TempDirFactory {
  private static final Path RAM = Path.of("/dev/shm");

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
      throws IOException {
    return Files.isWritable(RAM)
        ? Files.createTempDirectory(RAM, "graft-sriov")
        : Files.createTempDirectory("graft-sriov");
  }
}
