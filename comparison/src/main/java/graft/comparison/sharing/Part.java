package graft.comparison.sharing;

/** A part of the measurement. */
public enum Part {
  /** Guests that are always busy, with different shares, and kernels of different lengths. */
  SHARES("shares"),
  /** More and more guests with equal shares. */
  SESSIONS("sessions"),
  /** Short requests, alone and beside a best-effort guest. */
  LATENCY("latency"),
  /** A guest with one session beside a guest with ten. */
  ONE_AGAINST_MANY("one-against-many"),
  /** A guaranteed, a burstable and a best-effort guest. */
  CLASSES("classes");

  private final String text;

  Part(String text) {
    this.text = text;
  }

  /** The name that users write. */
  @Override
  public String toString() {
    return text;
  }
}
