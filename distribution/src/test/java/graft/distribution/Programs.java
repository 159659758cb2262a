package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Programs for the driver API that are linked to the client as built. */
final class Programs {
  private Programs() {}

  /** Builds programs of {@code src/test/c} into a folder. */
  static void build(Path folder, List<String> names) throws IOException, InterruptedException {
    for (String name : names) {
      Finished gcc =
          Finished.run(
              Path.of("").toAbsolutePath(),
              System.getenv(),
              List.of(
                  "gcc",
                  "-pthread",
                  "-o",
                  folder.resolve(name).toString(),
                  "src/test/c/" + name + ".c",
                  Checkout.HOME.resolve("lib/client/libcuda.so.1").toString()));
      assertThat(gcc.code()).as(gcc.err()).isZero();
    }
  }
}
