package graft.remoting.server.session.call;

import java.util.HashSet;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The streams that a client has named since they were last known to be idle, with their contexts,
 * so that a wait for a context need query only the streams of that context: a question about a
 * captured stream of another context would make its capture invalid. A few streams are kept; beyond
 * those the set only says that there are more.
 */
public final class UsedStreams {
  private static final int CAPACITY = 16;

  private final long[] streams = new long[CAPACITY];
  private final long[] contexts = new long[CAPACITY];
  private int size;

  /** The contexts of streams for which there was no room. */
  private final Set<Long> crowded = new HashSet<>();

  /** The contexts of streams that were destroyed and may have had work. */
  private final Set<Long> bereaved = new HashSet<>();

  private long current;
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

  /** Returns whether a stream is the one that was named last. */
  boolean isLast(long stream) {
    return stream == last;
  }

  /** Adds a stream of the current context; 0 is its legacy default stream. */
  public void add(long stream) {
    add(stream, current);
  }

  /** Adds a stream of a context, given by the driver's handle. */
  void add(long stream, long context) {
    if (stream == last) {
      return;
    }
    named.accept(stream);
    last = stream;
    legacy |= stream == 0;
    for (int i = 0; i < size; i++) {
      if (streams[i] == stream && contexts[i] == context) {
        return;
      }
    }
    if (size == CAPACITY) {
      crowded.add(context);
    } else {
      streams[size] = stream;
      contexts[size++] = context;
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
        bereaved.add(contexts[i]);
        removeAt(i);
        break;
      }
    }
    last = -1;
  }

  private void removeAt(int index) {
    streams[index] = streams[--size];
    contexts[index] = contexts[size];
  }

  /** Notes that another context is current, which has a legacy stream of its own. */
  public void changeContext(long context) {
    current = context;
    legacy = true;
    last = -1;
  }

  /** Removes the streams of the current context, because all its work has finished. */
  public void clear() {
    legacy = false;
    forget(current);
    last = -1;
  }

  /** Removes the streams of a context that has ended, or whose work has finished. */
  void forget(long context) {
    for (int i = size - 1; i >= 0; i--) {
      if (contexts[i] == context) {
        removeAt(i);
      }
    }
    crowded.remove(context);
    bereaved.remove(context);
  }

  /** Returns whether more streams of the current context were named than are kept. */
  public boolean tooMany() {
    return crowded.contains(current);
  }

  /** Returns whether a stream of the current context that is not kept may have work. */
  public boolean mayHaveMore() {
    return tooMany() || bereaved.contains(current);
  }

  /** Returns whether a stream of any context that is not kept may have work. */
  public boolean mayHaveMoreAnywhere() {
    return !crowded.isEmpty() || !bereaved.isEmpty();
  }

  /** Returns whether the legacy stream of the current context may have work. */
  public boolean mayUseLegacy() {
    return legacy;
  }

  /** Returns whether a kept stream is of the current context. */
  public boolean isOfCurrent(int index) {
    return contexts[index] == current;
  }

  /**
   * Returns the streams of the current context that are kept, and its legacy one if that may have
   * work.
   */
  public long[] all() {
    LongStream kept = IntStream.range(0, size).filter(this::isOfCurrent).mapToLong(this::get);
    return (legacy ? LongStream.concat(kept, LongStream.of(0)).distinct() : kept).toArray();
  }

  /** Returns how many streams of all contexts are kept. */
  public int size() {
    return size;
  }

  public long get(int index) {
    return streams[index];
  }
}
