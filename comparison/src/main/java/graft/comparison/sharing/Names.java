package graft.comparison.sharing;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The names of the measurements. Those in seconds have a sample for each program: the GPU time of
 * its kernels that finished.
 */
final class Names {
  /** For how long each case was measured. */
  static final String SECONDS = "measured-time";

  /** Two native processes; the size is the kernels' length in microseconds. */
  static final String NATIVE_PAIR = "busy-pair";

  /** A request's time; the size is the length of the kernels beside it, 0 without any. */
  static final String REQUEST = "request";

  /** What the best-effort guest beside requests got; the size is the length of its kernels. */
  static final String BESIDE = "busy-beside-requests";

  /** The guest with one session, then the sessions of the other one. */
  static final String ONE_AND_MANY = "busy-one-against-many";

  /** The guaranteed, the burstable and the best-effort guest. */
  static final String CLASSES = "busy-classes";

  private Names() {}

  /** Guests with these shares; the size is the kernels' length in microseconds. */
  static String shares(List<Integer> asked) {
    return asked.stream().map(String::valueOf).collect(Collectors.joining("-", "busy-", ""));
  }

  /** Equal guests with kernels of a length; the size is the number of guests. */
  static String sessions(long kernel) {
    return "busy-equal-" + kernel + "us";
  }
}
