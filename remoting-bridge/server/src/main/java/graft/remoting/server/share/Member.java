package graft.remoting.server.share;

import java.util.ArrayList;
import java.util.List;

/** A guest with its sessions, as a {@link DeviceArbiter} sees it. Not thread-safe. */
final class Member {
  final FairQueue.Guest guest;

  final List<Lease> leases = new ArrayList<>();

  /** Whether work goes on after the end of the guest's turn. */
  boolean overruns;

  boolean isWaiting;

  /** When the guest's last turn ended. */
  long lastHeld;

  /** Until when the guest counts as one that wants the GPU, because its turn was cut off. */
  long wantsUntil;

  /** When the guest wanted the GPU last. */
  long lastWanted = -DeviceArbiter.RECENT;

  Member(FairQueue.Guest guest) {
    this.guest = guest;
  }

  // These run up to 100,000 times a second, so that they leave no garbage.
  boolean isBusy() {
    for (int i = 0; i < leases.size(); i++) {
      if (leases.get(i).isBusy()) {
        return true;
      }
    }
    return false;
  }

  boolean asks() {
    for (int i = 0; i < leases.size(); i++) {
      if (leases.get(i).isWaiting()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Counts for how long the work of each session has gone on.
   *
   * @param nanos the time that has passed, in which another guest wanted the GPU; 0 if none did
   * @param hasTurn whether the guest has its turn
   */
  void watch(long nanos, boolean hasTurn) {
    for (int i = 0; i < leases.size(); i++) {
      Watchdog watchdog = leases.get(i).watchdog();
      if (!watchdog.isSet()) {
        continue;
      }
      if (!leases.get(i).isBusy()) {
        watchdog.rests();
      } else if (!hasTurn || watchdog.isRunning()) {
        watchdog.overruns(nanos);
      }
    }
  }
}
