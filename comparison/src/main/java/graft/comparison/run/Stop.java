package graft.comparison.run;

import java.util.concurrent.atomic.AtomicBoolean;

/** Says whether the user wants the comparison to stop. */
public final class Stop {
  private final AtomicBoolean asked = new AtomicBoolean();

  /** From now on no other run is begun, and the one that runs does not count. */
  public void ask() {
    asked.set(true);
  }

  /** Whether somebody asked. */
  public boolean isAsked() {
    return asked.get();
  }
}
