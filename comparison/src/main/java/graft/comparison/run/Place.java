package graft.comparison.run;

import java.util.List;

/** A setting that is ready. Closing takes it down and puts the host back. */
public interface Place extends AutoCloseable {
  /** How many copies of a program can run at once. */
  int capacity();

  /**
   * Runs copies of a program at once and waits for all of them.
   *
   * @throws PlaceLostException if the place itself is gone, as a guest that died
   */
  List<Ended> run(Program program, int copies) throws PlaceLostException, InterruptedException;

  /** Takes it down; a runtime exception says what is left. */
  @Override
  void close();
}
