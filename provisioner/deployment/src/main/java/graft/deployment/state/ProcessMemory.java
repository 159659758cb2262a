package graft.deployment.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process and its children hold in memory, as the kernel counts it: the proportional set
 * size, in which a page that N processes share counts 1/N (Linux, proc_pid_smaps(5)).
 */
public final class ProcessMemory {
  private static final String FIELD = "Pss:";

  private ProcessMemory() {}

  /** Bytes of the process and all that it started, itself or through others. */
  public static long ofFamily(ProcessHandle process) {
    return Stream.concat(Stream.of(process), process.descendants())
        .mapToLong(ProcessMemory::of)
        .sum();
  }

  /** Bytes of one process; 0 if it has ended or belongs to somebody else. */
  private static long of(ProcessHandle process) {
    Path rollup = Path.of("/proc", String.valueOf(process.pid()), "smaps_rollup");
    try (Stream<String> lines = Files.lines(rollup)) {
      return lines
          .filter(line -> line.startsWith(FIELD))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
          .sum();
    } catch (IOException | UncheckedIOException e) {
      return 0;
    }
  }
}
