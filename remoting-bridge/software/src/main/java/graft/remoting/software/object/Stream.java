package graft.remoting.software.object;

/** A CUstream: its last task, and the graph nodes that it records while it is captured. */
public final class Stream {
  public static final int NON_BLOCKING = 1;

  private final Context context;
  private final int flags;
  private final int priority;
  private final long id;
  private long handle;
  private Task last;
  private volatile Capture capture;

  public Stream(Context context, int flags, int priority, long id) {
    this.context = context;
    this.flags = flags;
    this.priority = priority;
    this.id = id;
  }

  public Context context() {
    return context;
  }

  public int flags() {
    return flags;
  }

  public int priority() {
    return priority;
  }

  public long id() {
    return id;
  }

  public long handle() {
    return handle;
  }

  public void setHandle(long value) {
    handle = value;
  }

  /** Returns whether this stream and the legacy default stream wait for each other. */
  public boolean isBlocking() {
    return (flags & NON_BLOCKING) == 0;
  }

  /**
   * Returns the last task, null if there was none; guarded by the context's lock on the order of
   * tasks.
   */
  public Task last() {
    return last;
  }

  public void setLast(Task task) {
    last = task;
  }

  public Capture capture() {
    return capture;
  }

  public void setCapture(Capture value) {
    capture = value;
  }
}
