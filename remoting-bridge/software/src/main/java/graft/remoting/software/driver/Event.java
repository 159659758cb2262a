package graft.remoting.software.driver;

import java.util.List;

/** A CUevent: the last task that recorded it. */
final class Event {
  static final int DISABLE_TIMING = 2;
  static final int INTERPROCESS = 4;

  private final Context context;
  private final int flags;
  private volatile Task task;
  private volatile GraphNode captured;
  private volatile SharedEvent shared;

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

  boolean isForOtherProcesses() {
    return (flags & INTERPROCESS) != 0;
  }

  /** What other processes know of it, null if it is this one's alone. */
  SharedEvent shared() {
    return shared;
  }

  /** Lets other processes use it; they learn of what was recorded before. */
  void share(SharedEvent with) {
    shared = with;
    if (task != null) {
      long number = with.record();
      context.detached(() -> with.happened(number), List.of(task));
    }
  }

  /** Records it behind what a stream has to do. */
  void record(Stream stream) {
    SharedEvent others = shared;
    long number = others == null ? 0 : others.record();
    Runnable tell = others == null ? () -> {} : () -> others.happened(number);
    task = stream.context().submit(stream, tell, List.of());
    captured = null;
  }

  void record(Task recorded) {
    task = recorded;
    captured = null;
  }

  /** Whether its last recording has happened. */
  boolean hasHappened() {
    return shared != null ? shared.hasHappened(shared.last()) : task == null || task.isDone();
  }

  /** Waits for its last recording. */
  void await() {
    if (shared != null) {
      shared.await(shared.last());
    } else if (task != null) {
      task.await();
    }
  }

  /** Makes a stream wait for its last recording. */
  void holdUp(Stream stream) {
    SharedEvent others = shared;
    if (others != null) {
      long number = others.last();
      stream.context().submit(stream, () -> others.await(number), List.of());
    } else if (task != null) {
      stream.context().submit(stream, () -> {}, List.of(task));
    }
  }

  /** Null if it was never recorded. */
  Task task() {
    return task;
  }

  /** The node of a capture that recorded it last, or null. */
  GraphNode captured() {
    return captured;
  }

  void capture(GraphNode node) {
    captured = node;
  }
}
