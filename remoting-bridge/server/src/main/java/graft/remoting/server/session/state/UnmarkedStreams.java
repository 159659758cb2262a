package graft.remoting.server.session.state;

/** The streams with work behind which {@link GpuMeter} has no marker. Only the executor uses it. */
final class UnmarkedStreams {
  /**
   * The number of streams that are told apart. If more have work, all of them get markers. The
   * driver serves all streams by a few connections to the GPU, eight by default, and what it queues
   * behind a marker in the same connection waits for the marker, whatever its stream.
   */
  private static final int MOST = 64;

  private final long[] streams = new long[MOST];

  /** The engines of the work in each of them, by their bits. */
  private final int[] engines = new int[MOST];

  private int count;

  /**
   * Adds work.
   *
   * @param engine the bit of the engine that does it
   * @return whether there is no room for another stream
   */
  boolean add(long stream, int engine) {
    for (int i = count - 1; i >= 0; i--) {
      if (streams[i] == stream) {
        engines[i] |= engine;
        return false;
      }
    }
    engines[count] = engine;
    streams[count++] = stream;
    return count == MOST;
  }

  int count() {
    return count;
  }

  long stream(int index) {
    return streams[index];
  }

  int engines(int index) {
    return engines[index];
  }

  /** Returns whether this stream was the last one to be added. */
  boolean isLast(long stream) {
    return count > 0 && streams[count - 1] == stream;
  }

  /** Returns whether no other stream has work, and this one has. */
  boolean isOnly(long stream) {
    return count == 1 && streams[0] == stream;
  }

  void clear() {
    count = 0;
  }
}
