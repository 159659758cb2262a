package graft.comparison.suite;

/** What becomes of guests that run on the host and are none of the comparison's. */
public enum OtherGuests {
  /** They go on; the report says how many ran. */
  NOTE,
  /** They are shut down before the first run and started again after the last. */
  SHUT_OFF
}
