package graft.remoting.server.session.call;

import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/**
 * The streams that a client has named since they were last known to be idle, so that a wait for a
 * context need query only these. A few streams are kept; beyond those the set only says that there
 * are more.
 */
public final class UsedStreams {
  private static final int CAPACITY = 16;

  private final long[] streams = new long[CAPACITY];
  private int size;
  private boolean tooMany;
  private boolean removed;
  private boolean legacy = true;
  private long last = -1;
  private LongConsumer named = stream -> {};
  private LongConsumer destroyed = stream -> {};

  /**
   * Sets what is told of streams.
   *
   * @param whenNamed told of a stream that is not the one which was named last, before it is used
   * @param whenDestroyed told of a stream that was destroyed
   */
  public void tell(LongConsumer whenNamed, LongConsumer whenDestroyed) {
    named = whenNamed;
    destroyed = whenDestroyed;
  }

  /** Adds a stream; 0 is the legacy default stream. */
  public void add(long stream) {
    if (stream == last) {
      return;
    }
    named.accept(stream);
    last = stream;
    legacy |= stream == 0;
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

  /**
   * Removes a stream that was destroyed. It must not be queried, although its last work may still
   * run.
   */
  public void remove(long stream) {
    destroyed.accept(stream);
    for (int i = 0; i < size; i++) {
      if (streams[i] == stream) {
        streams[i] = streams[--size];
        removed = true;
        break;
      }
    }
    last = -1;
  }

  /** Notes that another context is current, which has a legacy stream of its own. */
  public void changeContext() {
    legacy = true;
  }

  /** Removes all streams, because all work has finished. */
  public void clear() {
    legacy = false;
    size = 0;
    tooMany = false;
    removed = false;
    last = -1;
  }

  /** Returns whether more streams were named than are kept. */
  public boolean tooMany() {
    return tooMany;
  }

  /** Returns whether a stream that is not kept may have work. */
  public boolean mayHaveMore() {
    return tooMany || removed;
  }

  /** Returns whether the legacy stream of the current context may have work. */
  public boolean mayUseLegacy() {
    return legacy;
  }

  /** Returns the streams that are kept, and the legacy one if it may have work. */
  public long[] all() {
    LongStream kept = Arrays.stream(streams, 0, size);
    return (legacy ? LongStream.concat(kept, LongStream.of(0)).distinct() : kept).toArray();
  }

  public int size() {
    return size;
  }

  public long get(int index) {
    return streams[index];
  }
}
