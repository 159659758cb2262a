package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the CUDA programs of the software device's tests through client and server. The programs
 * check their own results. All run on one server, each in its own session.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class CudaProgramsTest {
  private static final Path SOURCES =
      Checkout.ROOT.resolve("remoting-bridge/software/src/test/cuda");

  /** The compiled programs are kept between builds, since nvcc is slow. */
  private static final Path BUILT = Checkout.ROOT.resolve("remoting-bridge/software/target/cuda");

  private static final String PATH =
      System.getenv("PATH") + File.pathSeparator + "/usr/local/cuda/bin";

  @TempDir static Path folder;
  private static SoftwareServer server;

  @BeforeAll
  static void serve() throws Exception {
    server = SoftwareServer.start(folder, "unix://" + folder.resolve("socket"));
  }

  @AfterAll
  static void stopTheServer() throws Exception {
    server.stop();
  }

  private static boolean haveNvcc() {
    return Stream.of(PATH.split(File.pathSeparator))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, "nvcc")));
  }

  static List<Path> programsOfNvcc() throws Exception {
    assumeTrue(haveNvcc(), "no nvcc in " + PATH);
    build("build", BUILT.toString());
    try (Stream<Path> sources = Files.list(SOURCES)) {
      return sources
          .map(source -> source.getFileName().toString())
          .filter(name -> name.endsWith(".cu"))
          .map(name -> BUILT.resolve(name.substring(0, name.length() - ".cu".length())))
          .sorted()
          .toList();
    }
  }

  static List<Path> programsOfKeptPtx() throws Exception {
    Path kept = folder.resolve("kept");
    String libcuda = Checkout.HOME.resolve("lib/client/libcuda.so.1").toString();
    build("build-without-nvcc", libcuda, kept.toString());
    try (Stream<Path> files = Files.list(kept)) {
      List<Path> programs = files.filter(Files::isExecutable).sorted().toList();
      assertThat(programs).isNotEmpty();
      return programs;
    }
  }

  private static void build(String script, String... arguments) throws Exception {
    List<String> command =
        Stream.concat(Stream.of(SOURCES.resolve(script).toString()), Stream.of(arguments)).toList();
    Finished built = Finished.run(folder, Map.of("PATH", PATH), command, Duration.ofMinutes(5));
    assertThat(built.code()).as("%s", built).isZero();
  }

  /** Programs built by nvcc, with CUDA's own runtime. */
  @ParameterizedTest
  @WithLongTests
  @MethodSource("programsOfNvcc")
  void passes(Path program) throws Exception {
    assertPasses(program);
  }

  /** Programs without nvcc: PTX from the sources, with host parts built by g++. */
  @ParameterizedTest
  @MethodSource("programsOfKeptPtx")
  void passesFromKeptPtx(Path program) throws Exception {
    assertPasses(program);
  }

  private static void assertPasses(Path program) throws IOException, InterruptedException {
    Map<String, String> environment = Map.of("PATH", "/usr/bin:/bin");
    Finished finished =
        Finished.run(folder, environment, server.command(List.of(program.toString())));
    assertThat(finished.out()).as("%s", finished).endsWith("PASS\n");
    assertThat(finished.code()).as("%s", finished).isZero();
  }
}
