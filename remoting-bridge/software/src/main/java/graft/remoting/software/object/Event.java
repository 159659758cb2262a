package graft.remoting.software.object;

import java.util.List;

/** A CUevent: the last task that recorded it. */
public final class Event {
  public static final int DISABLE_TIMING = 2;
  public static final int INTERPROCESS = 4;

  private final Context context;
  private final int flags;
  private volatile Task task;
  private volatile GraphNode captured;
  private volatile SharedEvent shared;

  public Event(Context context, int flags) {
    this.context = context;
    this.flags = flags;
  }

  public Context context() {
    return context;
  }

  public boolean hasTiming() {
    return (flags & DISABLE_TIMING) == 0;
  }

  public boolean isForOtherProcesses() {
    return (flags & INTERPROCESS) != 0;
  }

  /** What other processes know of it, null if it is this one's alone. */
  public SharedEvent shared() {
    return shared;
  }

  /** Lets other processes use it; they learn of what was recorded before. */
  public void share(SharedEvent with) {
    shared = with;
    if (task != null) {
      long number = with.record();
      context.detached(() -> with.happened(number), List.of(task));
    }
  }

  /** Records it behind what a stream has to do. */
  public void record(Stream stream) {
    SharedEvent others = shared;
    long number = others == null ? 0 : others.record();
    Runnable tell = others == null ? () -> {} : () -> others.happened(number);
    task = stream.context().submit(stream, tell, List.of());
    captured = null;
  }

  public void record(Task recorded) {
    task = recorded;
    captured = null;
  }

  /** Whether its last recording has happened. */
  public boolean hasHappened() {
    return shared != null ? shared.hasHappened(shared.last()) : task == null || task.isDone();
  }

  /** Waits for its last recording. */
  public void await() {
    if (shared != null) {
      shared.await(shared.last());
    } else if (task != null) {
      task.await();
    }
  }

  /** Makes a stream wait for its last recording. */
  public void holdUp(Stream stream) {
    SharedEvent others = shared;
    if (others != null) {
      long number = others.last();
      stream.context().submit(stream, () -> others.await(number), List.of());
    } else if (task != null) {
      stream.context().submit(stream, () -> {}, List.of(task));
    }
  }

  /** Null if it was never recorded. */
  public Task task() {
    return task;
  }

  /** The node of a capture that recorded it last, or null. */
  public GraphNode captured() {
    return captured;
  }

  public void capture(GraphNode node) {
    captured = node;
  }
}
