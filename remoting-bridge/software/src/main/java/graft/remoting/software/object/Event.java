package graft.remoting.software.object;

import java.util.List;

/** A CUevent, with the last task that recorded it. */
public final class Event {
  public static final int DISABLE_TIMING = 2;
  public static final int INTERPROCESS = 4;

  private final Context context;
  private final int flags;
  private volatile Task task;
  private volatile GraphNode captured;
  private volatile SharedEvent shared;

  /** The task that tells other processes of the last recording. */
  private volatile Task told;

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

  /** Returns the state that is shared with other processes, null if the event is not shared. */
  public SharedEvent shared() {
    return shared;
  }

  /** Shares the event with other processes, including the recordings so far. */
  public void share(SharedEvent with) {
    shared = with;
    if (task != null) {
      tell(with, task);
    }
  }

  /**
   * Tells other processes when a recording's work has finished. Recordings in several streams may
   * finish in another order than that of their numbers, but a number stands for all before it.
   */
  private void tell(SharedEvent others, Task work) {
    long number = others.record();
    told =
        context.detached(
            () -> others.happened(number), told == null ? List.of(work) : List.of(work, told));
  }

  /** Records the event behind the work that is queued in a stream. */
  public void record(Stream stream) {
    SharedEvent others = shared;
    task = stream.context().submit(stream, () -> {}, List.of());
    captured = null;
    if (others != null) {
      tell(others, task);
    }
  }

  public void record(Task recorded) {
    task = recorded;
    captured = null;
  }

  /** Returns whether the work before the last recording has finished. */
  public boolean hasHappened() {
    return shared != null ? shared.hasHappened(shared.last()) : task == null || task.isDone();
  }

  /** Waits for the work before the last recording. */
  public void await() {
    if (shared != null) {
      shared.await(shared.last());
    } else if (task != null) {
      task.await();
    }
  }

  /** Makes a stream wait for the last recording. */
  public void holdUp(Stream stream) {
    SharedEvent others = shared;
    if (others != null) {
      long number = others.last();
      stream.context().submit(stream, () -> others.await(number), List.of());
    } else if (task != null) {
      stream.context().submit(stream, () -> {}, List.of(task));
    }
  }

  /** Returns the task of the last recording, null if there was none. */
  public Task task() {
    return task;
  }

  /** Returns the node of a capture that recorded the event last, or null. */
  public GraphNode captured() {
    return captured;
  }

  public void capture(GraphNode node) {
    captured = node;
  }
}
