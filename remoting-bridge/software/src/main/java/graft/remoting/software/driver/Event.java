package graft.remoting.software.driver;

/** A CUevent: the last task that recorded it. */
final class Event {
  static final int DISABLE_TIMING = 2;

  private final Context context;
  private final int flags;
  private volatile Task task;
  private volatile GraphNode captured;

  Event(Context context, int flags) {
    this.context = context;
    this.flags = flags;
  }

  Context context() {
    return context;
  }

  boolean hasTiming() {
    return (flags & DISABLE_TIMING) == 0;
  }

  /** Null if it was never recorded. */
  Task task() {
    return task;
  }

  void record(Task recorded) {
    task = recorded;
    captured = null;
  }

  /** The node of a capture that recorded it last, or null. */
  GraphNode captured() {
    return captured;
  }

  void capture(GraphNode node) {
    captured = node;
  }
}
