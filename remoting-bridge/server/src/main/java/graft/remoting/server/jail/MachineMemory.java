package graft.remoting.server.jail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The size of this host's memory. */
public final class MachineMemory {
  private MachineMemory() {}

  /** Returns the size in bytes. */
  public static long bytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
        if (line.startsWith("MemTotal:")) {
          return Long.parseLong(line.replaceAll("\\D", "")) << 10;
        }
      }
      throw new IllegalStateException("/proc/meminfo has no MemTotal");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
