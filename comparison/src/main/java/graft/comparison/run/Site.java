package graft.comparison.run;

import java.util.List;
import java.util.Map;

/** A machine, with its guests and nodes, that can make settings ready. */
public interface Site {
  /**
   * Makes a setting ready.
   *
   * @throws NotPossibleException if this site cannot do it, with the reason
   * @throws Exception if it should have worked and did not; nothing is left
   */
  Place prepare(Setting setting) throws Exception;

  /** Takes down what an interrupted comparison left of a setting; nothing may be there. */
  void clear(Setting setting) throws Exception;

  /** What somebody who wants to repeat the comparison has to know, by name. */
  Map<String, String> describe();

  /** The guests that run on this host at the moment; none where there is no libvirt. */
  List<String> guestsRunning();

  /**
   * Shuts a guest down and waits until it is off.
   *
   * @throws Exception if it stays, or could not be started again
   */
  void shutOff(String guest) throws Exception;

  /** Starts a guest that was shut off, unless it runs. */
  void start(String guest) throws Exception;
}
