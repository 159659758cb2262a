package graft.comparison.sharing;

import java.util.List;
import java.util.Set;

/**
 * What is measured.
 *
 * @param kernels the GPU times of the kernels, in microseconds, for shares and beside requests
 * @param ofSessions the same for the growing number of sessions
 * @param counts the numbers of sessions
 * @param seconds for which each case is measured
 */
public record Scope(
    Set<Part> parts,
    List<Long> kernels,
    List<Long> ofSessions,
    List<Integer> counts,
    double seconds) {
  /** The GPU time of a short request, in microseconds. */
  static final long REQUEST = 500;

  /** The GPU time of kernels where their length is not what is measured, in microseconds. */
  static final long USUAL = 500;

  /** The sessions of the one guest that has many. */
  static final int MANY = 10;

  /** The shares that guests ask for at the same time, in percent. */
  static final List<List<Integer>> ASKED =
      List.of(List.of(50, 50), List.of(75, 25), List.of(90, 10), List.of(50, 25, 25));

  /** The usual scope; kernels below 500 us tell nothing on the software device. */
  public static Scope of(Set<Part> parts, boolean software, boolean quick, double seconds) {
    List<Long> kernels =
        software ? List.of(500L, 5000L, 50_000L) : List.of(5L, 50L, 500L, 5000L, 50_000L);
    List<Long> few = software ? List.of(5000L) : List.of(50L, 5000L);
    return new Scope(
        parts,
        quick ? few : kernels,
        software || quick ? List.of(USUAL) : List.of(50L, USUAL),
        quick ? List.of(1, 2, 4) : List.of(1, 2, 4, 8, 16),
        seconds);
  }

  /** This scope with other kernels for shares and beside requests. */
  public Scope withKernels(List<Long> chosen) {
    return new Scope(parts, List.copyOf(chosen), ofSessions, counts, seconds);
  }

  /** This scope with other numbers of sessions. */
  public Scope withCounts(List<Integer> chosen) {
    return new Scope(parts, kernels, ofSessions, List.copyOf(chosen), seconds);
  }
}
