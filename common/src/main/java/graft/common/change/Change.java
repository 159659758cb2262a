package graft.common.change;

import java.util.Map;

/**
 * A change that can be undone, usually implemented as a record. A later process needs only the
 * record's components and the result of {@link #before} to continue or to undo the change.
 *
 * <p>To make a change, a caller saves the result of {@link #before} durably and then calls {@link
 * #apply}. A process may be killed at any moment, and a later process then makes or undoes the
 * change again: {@link #apply} accepts that all or part of the change has already been made, and
 * {@link #undo} that all or part of the change is missing. Both methods do nothing if nothing is
 * left to do.
 *
 * @param <V> the view by which {@link #isDone} checks the change: an observation of the host, or
 *     the host itself
 * @param <H> the object that the change is made on
 */
public interface Change<V, H> {
  /** Describes the change in one line. */
  String describe();

  /** Whether the host is in the state that this change produces. */
  boolean isDone(V view);

  /**
   * The present values of the host that {@link #undo} needs.
   *
   * @return plain JSON values for a journal; empty if {@link #undo} needs no values
   */
  Map<String, Object> before(H host) throws Exception;

  /**
   * Makes the change.
   *
   * @return facts for later changes and for users, as plain JSON values
   * @throws Exception with a message that states what was tried, on what and what to do next;
   *     {@link #undo} then undoes the partial change
   */
  Map<String, Object> apply(H host) throws Exception;

  /**
   * Undoes the change.
   *
   * @param before the result of {@link #before} before the change was first begun; empty if a crash
   *     prevented saving the result, in which case the change was not begun
   */
  void undo(H host, Map<String, Object> before) throws Exception;
}
