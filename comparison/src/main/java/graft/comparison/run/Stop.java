package graft.comparison.run;

import java.util.concurrent.atomic.AtomicBoolean;

/** The user's request to stop the comparison. */
public final class Stop {
  private final AtomicBoolean asked = new AtomicBoolean();

  /** Requests the stop: no further run begins, and the current run does not count. */
  public void ask() {
    asked.set(true);
  }

  /** Whether the user asked for a stop. */
  public boolean isAsked() {
    return asked.get();
  }
}
