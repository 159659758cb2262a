package graft.remoting.server.session.call;

/**
 * The streams that were named since they were last known to be idle, so that waiting for a context
 * need ask only those. A few are kept; if there are more, the answer is that it is not known.
 */
public final class UsedStreams {
  private static final int CAPACITY = 16;

  private final long[] streams = new long[CAPACITY];
  private int size;
  private boolean tooMany;
  private boolean removed;
  private long last = -1;

  /** A stream is named; 0 is the legacy default stream. */
  public void add(long stream) {
    if (stream == last) {
      return;
    }
    last = stream;
    for (int i = 0; i < size; i++) {
      if (streams[i] == stream) {
        return;
      }
    }
    if (size == CAPACITY) {
      tooMany = true;
    } else {
      streams[size++] = stream;
    }
  }

  /** A stream is no more: it must not be asked, though its last work may still run. */
  public void remove(long stream) {
    for (int i = 0; i < size; i++) {
      if (streams[i] == stream) {
        streams[i] = streams[--size];
        removed = true;
        break;
      }
    }
    last = -1;
  }

  /** All work is over. */
  public void clear() {
    size = 0;
    tooMany = false;
    removed = false;
    last = -1;
  }

  /** Whether there were more than are kept. */
  public boolean tooMany() {
    return tooMany;
  }

  /** Whether work may be left on a stream that is not kept. */
  public boolean mayHaveMore() {
    return tooMany || removed;
  }

  public int size() {
    return size;
  }

  public long get(int index) {
    return streams[index];
  }
}
