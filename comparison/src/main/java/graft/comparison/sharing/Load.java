package graft.comparison.sharing;

import java.util.List;
import java.util.Locale;

/**
 * What a program does with the GPU while others use it too: {@code graft-workload sharing}.
 *
 * @param guest whose session it is
 * @param kind {@code busy} keeps kernels queued, {@code calls} launches one 100 times a second and
 *     waits for it
 * @param kernel the GPU time of its kernels, in microseconds
 */
record Load(String guest, String kind, long kernel) {
  static Load busy(String guest, long kernel) {
    return new Load(guest, "busy", kernel);
  }

  static Load calls(String guest, long kernel) {
    return new Load(guest, "calls", kernel);
  }

  /**
   * The options of the program.
   *
   * @param rounds of the kernel's loop in a microsecond
   * @param seconds for which it is measured
   */
  List<String> options(double rounds, double seconds) {
    return List.of(
        "only=" + kind,
        "kernel=" + kernel,
        String.format(Locale.ROOT, "rounds=%.6g", rounds),
        String.format(Locale.ROOT, "seconds=%.3f", seconds));
  }
}
