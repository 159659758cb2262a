package graft.remoting.software.driver;

/** A CUstream: its last task, and what it records while it captures. */
final class Stream {
  static final int NON_BLOCKING = 1;

  private final Context context;
  private final int flags;
  private final int priority;
  private final long id;
  private long handle;
  private Task last;
  private volatile Capture capture;

  Stream(Context context, int flags, int priority, long id) {
    this.context = context;
    this.flags = flags;
    this.priority = priority;
    this.id = id;
  }

  Context context() {
    return context;
  }

  int flags() {
    return flags;
  }

  int priority() {
    return priority;
  }

  long id() {
    return id;
  }

  long handle() {
    return handle;
  }

  void setHandle(long value) {
    handle = value;
  }

  /** Whether it and the legacy default stream wait for each other. */
  boolean isBlocking() {
    return (flags & NON_BLOCKING) == 0;
  }

  /** Its last task, null if there was none; guarded by the context's order. */
  Task last() {
    return last;
  }

  void setLast(Task task) {
    last = task;
  }

  Capture capture() {
    return capture;
  }

  void setCapture(Capture value) {
    capture = value;
  }
}
