package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
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
    Path program = folder.resolve("profiler");
    Path client = Checkout.HOME.resolve("lib/client");
    Programs.gcc(
        "-pthread",
        "-o",
        program.toString(),
        "src/test/c/profiler.c",
        client.resolve("libcuda.so.1").toString(),
        client.resolve("cupti/libcupti.so.13").toString());
    Finished profiled =
        Finished.run(
            folder,
            System.getenv(),
            List.of(
                Checkout.HOME.resolve("bin/graft").toString(),
                "run",
                "--device",
                "software",
                "--profiler",
                "--",
                program.toString()));

    assertThat(profiled.code()).as("%s", profiled).isZero();
    assertThat(profiled.out())
        .isEqualTo(
            """
            version 130001
            synchronization is refused: 27
            two subscribers: 0, 0
            kernels: 100, in order 100, within their calls 100, with their operation 100
            graphs 1, calls that launch them 1
            copies to the device 1, back 1, fills 1
            operations of the first kind 100, of the second 100
            called before 101, after 101
            several buffers: 1, dropped 0
            """);
  }
}
