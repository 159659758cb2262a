package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The CUDA programs of the software device's tests, built by plain nvcc, through client and server.
 * They check themselves. All run on one server, each in a session of its own.
 */
final class CudaProgramsTest {
  private static final Path SOURCES =
      Checkout.ROOT.resolve("remoting-bridge/software/src/test/cuda");
  private static final Path BUILT = Checkout.ROOT.resolve("remoting-bridge/software/target/cuda");

  /** Where CUDA's toolkit lies if nvcc is not on the path. */
  private static final String TOOLKIT = "/usr/local/cuda/bin";

  @TempDir static Path folder;
  private static SoftwareServer server;

  static List<String> programs() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".cu"))
          .map(name -> name.substring(0, name.length() - ".cu".length()))
          .sorted()
          .toList();
    }
  }

  @BeforeAll
  static void buildTheProgramsAndServe() throws Exception {
    String path = System.getenv("PATH") + File.pathSeparator + TOOLKIT;
    boolean nvcc =
        Stream.of(path.split(File.pathSeparator))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, "nvcc")));
    assumeTrue(nvcc, "no nvcc on the path nor in " + TOOLKIT);
    Finished built =
        Finished.run(
            folder,
            Map.of("PATH", path),
            List.of(SOURCES.resolve("build").toString(), BUILT.toString()),
            Duration.ofMinutes(5));
    assertThat(built.code()).as("%s", built).isZero();
    server = SoftwareServer.start(folder, "unix://" + folder.resolve("socket"));
  }

  @AfterAll
  static void stopTheServer() throws Exception {
    if (server != null) {
      server.stop();
    }
  }

  @ParameterizedTest
  @MethodSource("programs")
  void passes(String program) throws Exception {
    List<String> words = new ArrayList<>(List.of(BUILT.resolve(program).toString()));
    Finished finished =
        Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), server.command(words));
    assertThat(finished.out()).as("%s", finished).endsWith("PASS\n");
    assertThat(finished.code()).as("%s", finished).isZero();
  }
}
