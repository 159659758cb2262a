package graft.common.change;

import java.util.Map;

/**
 * One change that can be undone, usually as a record: its components are all that a later process
 * needs, beside what was saved, to continue with it or to undo it.
 *
 * <p>To make a change, a caller saves the result of {@link #before} durably and then calls {@link
 * #apply}. A process may be killed at any moment, and then the change is made or undone again:
 * {@link #apply} accepts that all or part of the change is made already, {@link #undo} that all or
 * part of it is missing. Both do nothing where nothing is left to do.
 *
 * @param <V> what shows whether it is made: an observation of the host, or the host itself
 * @param <H> what it is made on
 */
public interface Change<V, H> {
  /** What it will do, in one line. */
  String describe();

  /** Whether the host is in the state that this change produces. */
  boolean isDone(V view);

  /**
   * The present values of the host that {@link #undo} needs.
   *
   * @return plain JSON values, for a journal; empty if undo needs nothing
   */
  Map<String, Object> before(H host) throws Exception;

  /**
   * Makes the change.
   *
   * @return facts for later changes and for users: plain JSON values
   * @throws Exception with what was tried, on what and what to do next; its effects are then undone
   *     by {@link #undo}
   */
  Map<String, Object> apply(H host) throws Exception;

  /**
   * Undoes the change.
   *
   * @param before what {@link #before} gave before the change was first begun; empty if a crash
   *     came before it was saved, and then nothing was begun
   */
  void undo(H host, Map<String, Object> before) throws Exception;
}
