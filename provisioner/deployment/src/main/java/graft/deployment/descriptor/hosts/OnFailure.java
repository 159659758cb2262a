package graft.deployment.descriptor.hosts;

/** What a host that failed means for the other hosts of its deployment. */
public enum OnFailure {
  /** No other host begins, and those at work are interrupted. */
  STOP,
  /** No other host begins; those at work come to their end. */
  WAIT,
  /** The others go on, but for those that use a GPU of the host. */
  LEAVE
}
