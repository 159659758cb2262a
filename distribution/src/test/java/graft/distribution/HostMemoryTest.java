package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory of every kind agrees with a model of it, over the channels of one machine: random copies,
 * fills, kernels, graphs and host functions, two minutes in all, with new seeds each time. A
 * difference is reported with its seed, and {@code remoting-bridge/client/fuzz/memory --seed N}
 * reproduces it.
 */
final class HostMemoryTest {
  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server =
        SoftwareServer.start(folder, "tcp://127.0.0.1:0", "unix://" + folder.resolve("socket"));
    Finished gcc =
        Finished.run(
            Path.of("").toAbsolutePath(),
            System.getenv(),
            List.of(
                "gcc",
                "-O1",
                "-std=c11",
                "-D_GNU_SOURCE",
                "-pthread",
                "../remoting-bridge/client/fuzz/memory/main.c",
                "../remoting-bridge/client/fuzz/memory/model.c",
                "../remoting-bridge/client/fuzz/memory/work.c",
                "-o",
                folder.resolve("memory").toString(),
                "-ldl"));
    assertThat(gcc.code()).as(gcc.err()).isZero();
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest(name = "{0}, up to {1} bytes, {2} threads")
  @CsvSource({
    "shm, 65536, 1, 25",
    "shm, 300, 3, 20",
    "unix, 65536, 1, 15",
    "tcp, 65536, 1, 25",
    "tcp, 300, 3, 20",
    "tcp, 4000000, 1, 15"
  })
  void bytesAreWhereTheModelSays(String channel, String bytes, String threads, int seconds)
      throws Exception {
    String seed = Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE);
    String address =
        channel.equals("tcp") ? server.address() : channel + "://" + folder.resolve("socket");
    Finished program =
        Finished.run(
            folder,
            server.environment(address),
            List.of(
                folder.resolve("memory").toString(),
                "--seed",
                seed,
                "--bytes",
                bytes,
                "--threads",
                threads,
                "--seconds",
                Integer.toString(seconds)),
            Duration.ofSeconds(seconds + 120L));
    System.out.println(channel + ": " + program.out());
    assertThat(program.code()).as("%s", program).isZero();
  }
}
