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

  /** Runs the compiler in this module's folder. */
  static void gcc(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("gcc"));
    command.addAll(List.of(arguments));
    Finished gcc = Finished.run(Path.of("").toAbsolutePath(), System.getenv(), command);
    assertThat(gcc.code()).as(gcc.err()).isZero();
  }
}
