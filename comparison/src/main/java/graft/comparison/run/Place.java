package graft.comparison.run;

import java.util.List;

/** A setting that is ready. Closing the place takes the setting down and restores the host. */
public interface Place extends AutoCloseable {
  /** The number of copies of a program that can run at once. */
  int capacity();

  /**
   * Runs copies of a program at once and waits for all of them.
   *
   * @throws PlaceLostException if the place itself is lost, for example because its guest died
   */
  List<Ended> run(Program program, int copies) throws PlaceLostException, InterruptedException;

  /**
   * Makes an empty folder for the caches of compiled kernels, which replaces the one before.
   *
   * @return the folder's path for programs of this place
   * @throws PlaceLostException if the place itself is lost
   */
  String emptyCaches() throws PlaceLostException;

  /** Takes the setting down; the message of a runtime exception lists what remains. */
  @Override
  void close();
}
