package graft.comparison.suite;

/** The kinds of workloads. All but {@code exec} are Graft's own programs. */
public enum WorkloadKind {
  /** Copies by size, direction and kind of memory. */
  BANDWIDTH,
  /** The cost of calls. */
  LAUNCH,
  /** The cost of the channel itself: copies with a wait after each, launches, a round trip. */
  REMOTING,
  /** A program with a given share of its time in transfers, calibrated on the baseline. */
  SYNTHETIC,
  /** Compute times: option pricing, Walsh transform, concurrent kernels, overlapped copies. */
  KERNELS,
  /** Patterns of memory and compute. */
  MEMORY,
  /** Several copies of {@code kernels} at once: the time of the slowest copy. */
  MULTIPLEX,
  /** The same work on one GPU and on several. */
  MULTI_GPU,
  /** Any program. */
  EXEC;

  /** The argument that selects this workload in graft-workload. */
  public String program() {
    return Words.of(this == MULTIPLEX ? KERNELS : this);
  }
}
