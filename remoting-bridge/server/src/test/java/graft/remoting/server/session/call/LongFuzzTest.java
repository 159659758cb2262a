package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Fuzzed records, as many as one likes: {@code scripts/fuzz}. Each seed has a process of its own,
 * so that a crash ends only its seed, and a process that grows is noticed.
 */
class LongFuzzTest {
  private static final long RECORDS = Long.getLong("graft.fuzz.records", 200_000);
  private static final long FIRST_SEED = Long.getLong("graft.fuzz.seed", 1);
  private static final long EACH = 1_000_000;

  @Test
  void noRecordCrashesItsWorkerOrLeavesItsSession() throws Exception {
    List<Long> failed = new ArrayList<>();
    long began = System.nanoTime();
    long done = 0;
    for (long seed = FIRST_SEED; done < RECORDS; seed++) {
      long count = Math.min(EACH, RECORDS - done);
      if (run(seed, count) != 0) {
        failed.add(seed);
        System.out.println("seed " + seed + " failed: scripts/fuzz " + count + " " + seed);
      }
      done += count;
      System.out.printf(
          "%d of %d records after %d s%n",
          done, RECORDS, (System.nanoTime() - began) / 1_000_000_000L);
    }
    assertThat(failed).as("seeds with a find").isEmpty();
  }

  private static int run(long seed, long count) throws IOException, InterruptedException {
    Path reports = Files.createDirectories(Path.of("target", "fuzz"));
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:ErrorFile=" + reports.resolve("crash-" + seed + ".log"),
                "-cp",
                System.getProperty("java.class.path"),
                RandomRecords.class.getName(),
                Long.toString(seed),
                Long.toString(count))
            .redirectErrorStream(true)
            .start();
    process.inputReader(StandardCharsets.UTF_8).lines().forEach(line -> System.out.println(line));
    return process.waitFor();
  }
}
