package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The programs of the tests. */
final class Programs {
  private Programs() {}

  /** Builds programs of {@code src/test/c}, linked to the client as built, into a folder. */
  static void build(Path folder, List<String> names) throws IOException, InterruptedException {
    for (String name : names) {
      gcc(
          "-pthread",
          "-o",
          folder.resolve(name).toString(),
          "src/test/c/" + name + ".c",
          Checkout.HOME.resolve("lib/client/libcuda.so.1").toString());
    }
  }

  /** Builds one of the client's fuzzers. Returns the program. */
  static Path buildFuzzer(String name, Path folder) throws IOException, InterruptedException {
    return buildFuzzer(Checkout.ROOT, name, folder);
  }

  /** Does the same with the sources of another checkout. */
  static Path buildFuzzer(Path sources, String name, Path folder)
      throws IOException, InterruptedException {
    Path program = folder.resolve(name);
    String build =
        "gcc -O1 -std=c11 -D_GNU_SOURCE -pthread remoting-bridge/client/fuzz/$1/*.c"
            + " -o \"$2\" -ldl";
    Finished gcc =
        Finished.run(
            sources, System.getenv(), List.of("sh", "-c", build, "sh", name, program.toString()));
    assertThat(gcc.code()).as(gcc.err()).isZero();
    return program;
  }

  /** Runs the compiler in this module's folder. */
  static void gcc(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("gcc"));
    command.addAll(List.of(arguments));
    Finished gcc = Finished.run(Path.of("").toAbsolutePath(), System.getenv(), command);
    assertThat(gcc.code()).as(gcc.err()).isZero();
  }
}
