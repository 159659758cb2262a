package graft.comparison.suite;

/** What a workload runs. All but {@code exec} are programs of Graft's own. */
public enum WorkloadKind {
  /** Copies by size, direction and kind of memory. */
  BANDWIDTH,
  /** What calls cost. */
  LAUNCH,
  /** What a channel costs by itself: copies that are each waited for, launches, a round trip. */
  REMOTING,
  /** A share of the time in transfers, calibrated on the baseline. */
  SYNTHETIC,
  /** Compute times: option pricing, Walsh transform, concurrent kernels, overlapped copies. */
  KERNELS,
  /** Patterns of memory and compute. */
  MEMORY,
  /** Several copies of {@code kernels} at once: the slowest one's time. */
  MULTIPLEX,
  /** One piece of work on one GPU and on several. */
  MULTI_GPU,
  /** Any program. */
  EXEC;

  /** The program's own word for it. */
  public String program() {
    return Words.of(this == MULTIPLEX ? KERNELS : this);
  }
}
