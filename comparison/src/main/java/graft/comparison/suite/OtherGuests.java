package graft.comparison.suite;

/** How a comparison treats running guests of the host that do not belong to it. */
public enum OtherGuests {
  /** The guests continue to run; the report gives their number. */
  NOTE,
  /** The guests are shut down before the first run and started again after the last. */
  SHUT_OFF
}
