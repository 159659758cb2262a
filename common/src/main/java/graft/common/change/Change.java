package graft.common.change;

import java.util.Map;

/**
 * One change that can be undone, usually as a record: its components are all that a later process
 * needs, beside what was saved, to continue with it or to undo it.
 *
 * <p>Whoever makes a change asks for {@link #before}, saves that where a crash cannot reach it, and
 * then calls {@link #apply}. A process may be killed at any moment, and then the change is made or
 * undone again: {@link #apply} copes with all or part of it being there, {@link #undo} with all or
 * part of it missing. Both do nothing where nothing is left to do.
 *
 * @param <V> what shows whether it is made: an observation of the host, or the host itself
 * @param <H> what it is made on
 */
public interface Change<V, H> {
  /** What it will do, in one line. */
  String describe();

  /** Whether the host is as this change leaves it. */
  boolean isDone(V view);

  /**
   * How the host is now, as far as {@link #undo} needs it.
   *
   * @return plain JSON values, for a journal; empty if undo needs nothing
   */
  Map<String, Object> before(H host) throws Exception;

  /**
   * Makes the change.
   *
   * @return what later changes and people may want to know of it: plain JSON values
   * @throws Exception with what was tried, on what and what to do next; what it did is then taken
   *     back by {@link #undo}
   */
  Map<String, Object> apply(H host) throws Exception;

  /**
   * Takes the change back.
   *
   * @param before what {@link #before} gave before the change was first begun; empty if a crash
   *     came before it was saved, and then nothing was begun
   */
  void undo(H host, Map<String, Object> before) throws Exception;
}
