package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A profiler in a program on a remote GPU: {@code graft run --profiler} as built. */
final class ProfilerTest {
  @TempDir Path folder;

  /**
   * {@code profiler.c} does with libcupti what PyTorch's profiler does. The loader finds the
   * library only because {@code --profiler} has loaded it: nothing else names its folder.
   */
  @Test
  void seesWhatRanAndWhen() throws Exception {
    assertThat(profiled(List.of())).isEqualTo(seen("graphs 1, calls that launch them 1\n"));
  }

  /**
   * Where a worker has NVIDIA's profiling library, times are the library's, and the launch of a
   * graph is what ran in it. The library here is {@code profiling_library.c}.
   */
  @Test
  void takesTheTimesOfTheServersLibrary() throws Exception {
    Path library = folder.resolve("libcupti.so.13");
    Programs.gcc(
        "-shared", "-fPIC", "-pthread", "-o", library.toString(), "src/test/c/profiling_library.c");

    assertThat(profiled(List.of("--profiler-library", library.toString()), "library"))
        .isEqualTo(
            seen(
                """
                graphs 0, calls that launch them 1
                in place of a graph: 1 and 1 kernels, fills 1
                by the library's times: kernels 100, fills 1
                """));
  }

  /** A library that is none, or that refuses, changes nothing. */
  @Test
  void doesWithoutALibraryThatIsNone() throws Exception {
    Path none = Files.writeString(folder.resolve("none.so"), "x");

    assertThat(profiled(List.of("--profiler-library", none.toString())))
        .contains("kernels: 100, in order 100", "graphs 1,");
  }

  /** Otherwise only the log of a worker with a profiler would say that the file is missing. */
  @Test
  void aServerWithoutTheLibraryThatIsNamedDoesNotStart() throws Exception {
    Path missing = folder.resolve("libcupti.so.13");
    List<String> serve =
        List.of(
            SoftwareServer.GRAFT,
            "serve",
            "--insecure",
            "--device",
            "software",
            "--listen",
            "unix://" + folder.resolve("socket"),
            "--profiler-library",
            missing.toString());

    Finished served = Finished.run(folder, System.getenv(), serve);

    assertThat(served.code()).isEqualTo(1);
    assertThat(served.err())
        .contains("cannot load the profiling library " + missing + ": there is no such file")
        .contains("usually /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13");
  }

  /** What {@code profiler.c} is to print, with the lines about graphs. */
  private static String seen(String graphs) {
    return """
        version 130001
        synchronization is refused: 27
        two subscribers: 0, 0
        kernels: 100, in order 100, within their calls 100, with their operation 100
        """
        + graphs
        + """
        copies to the device 1, back 1, fills 1
        operations of the first kind 100, of the second 100
        called before 101, after 101
        several buffers: 1, dropped 0
        """;
  }

  /** What {@code profiler.c} prints with a server that has these options. */
  private String profiled(List<String> options, String... arguments) throws Exception {
    Path program = folder.resolve("profiler");
    Path client = Checkout.HOME.resolve("lib/client");
    Programs.gcc(
        "-pthread",
        "-o",
        program.toString(),
        "src/test/c/profiler.c",
        client.resolve("libcuda.so.1").toString(),
        client.resolve("cupti/libcupti.so.13").toString());
    SoftwareServer server =
        SoftwareServer.start(folder, Map.of(), options, "unix://" + folder.resolve("socket"));
    try {
      List<String> words = new ArrayList<>(List.of(program.toString()));
      words.addAll(List.of(arguments));
      List<String> command =
          SoftwareServer.command(
              folder, server.over("shm"), SoftwareServer.NAME, SoftwareServer.TOKEN, words);
      command.add(command.indexOf("--"), "--profiler");
      Finished profiled = Finished.run(folder, System.getenv(), command);
      assertThat(profiled.code()).as("%s", profiled).isZero();
      return profiled.out();
    } finally {
      server.stop();
    }
  }

  /** {@code tool.c} is the program, and the library that asks, of a name of NVIDIA's. */
  @Test
  void aToolOfNvidiasIsToldOnceWhatToUse() throws Exception {
    Path client = Checkout.HOME.resolve("lib/client/libcuda.so.1");
    Path tool = folder.resolve("libsanitizer-public.so");
    Path other = folder.resolve("libother.so");
    Path program = folder.resolve("tool");
    String source = "src/test/c/tool.c";
    for (Path library : List.of(tool, other)) {
      Programs.gcc(
          "-shared", "-fPIC", "-DTOOL", "-o", library.toString(), source, client.toString());
    }
    Programs.gcc("-o", program.toString(), source, client.toString(), "-ldl");

    assertThat(lines(program, Map.of(), other)).isEmpty();
    assertThat(lines(program, Map.of(), tool))
        .containsExactly(
            "graft: libsanitizer-public.so needs the driver of a GPU in this machine, and shows"
                + " nothing of a remote one; graft trace and graft run --profiler do");
    assertThat(lines(program, Map.of("CUDA_INJECTION64_PATH", tool.toString()), other))
        .singleElement()
        .asString()
        .startsWith("graft: the tool that CUDA_INJECTION64_PATH names needs the driver");
  }

  /** What the client says of tools while the program runs with a library. */
  private List<String> lines(Path program, Map<String, String> variables, Path library)
      throws Exception {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.putAll(variables);
    Finished run =
        Finished.run(
            folder,
            environment,
            List.of(
                Checkout.HOME.resolve("bin/graft").toString(),
                "run",
                "--device",
                "software",
                "--",
                program.toString(),
                library.toString()));
    assertThat(run.code()).as("%s", run).isZero();
    return run.err().lines().filter(line -> line.contains("needs the driver")).toList();
  }
}
