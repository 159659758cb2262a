package graft.comparison.run;

import java.util.List;
import java.util.Map;

/** A machine, with its guests and nodes, that can make settings ready. */
public interface Site {
  /**
   * Makes a setting ready.
   *
   * @throws NotPossibleException if this site does not support the setting; the message gives the
   *     reason
   * @throws Exception if the site supports the setting but making it ready failed; nothing of it
   *     remains
   */
  Place prepare(Setting setting) throws Exception;

  /** Takes down the remains of a setting after an interrupted comparison. There may be none. */
  void clear(Setting setting) throws Exception;

  /** Facts, by name, that are needed to repeat the comparison. */
  Map<String, String> describe();

  /** The guests that currently run on this host; none without libvirt. */
  List<String> guestsRunning();

  /**
   * Shuts a guest down and waits until it is off.
   *
   * @throws Exception if the guest does not shut down, or could not be started again
   */
  void shutOff(String guest) throws Exception;

  /** Starts a guest that was shut off, unless it is already running. */
  void start(String guest) throws Exception;
}
