package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.DeviceMemory;
import java.util.ArrayDeque;
import java.util.Deque;

/** The contexts of the calling threads. */
public final class Contexts {
  private final Handles handles;
  private final ThreadLocal<Deque<Context>> stacks = ThreadLocal.withInitial(ArrayDeque::new);

  public Contexts(Handles handles) {
    this.handles = handles;
  }

  /** The contexts that the calling thread has pushed, the current one first. */
  public Deque<Context> stack() {
    return stacks.get();
  }

  /** Returns the calling thread's context; there must be one, without an error. */
  public Context current() {
    Context context = any();
    checkError(context);
    return context;
  }

  /** Returns the memory of the calling thread's device, even if work in its context has failed. */
  public DeviceMemory memoryOfAny() {
    return any().gpu().memory();
  }

  /** Returns the calling thread's context, even if its work has failed. */
  public Context any() {
    Context context = stacks.get().peek();
    if (context == null) {
      throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
    }
    if (context.isDestroyed()) {
      throw new CudaException(CudaResult.CONTEXT_IS_DESTROYED, "the context is destroyed");
    }
    return context;
  }

  /** The memory of the current context's device. */
  public DeviceMemory memory() {
    return current().gpu().memory();
  }

  /** The context of a handle, the current one for 0. */
  public Context of(long handle) {
    return handle == 0 ? current() : handles.get(handle, Context.class);
  }

  /** Waits for the current context's work, if there is one, also if it has failed. */
  public void await() {
    Context context = stacks.get().peek();
    if (context != null && !context.isDestroyed()) {
      context.awaitAll();
    }
  }

  /** Destroys a context and makes it no longer current to the calling thread; null is ignored. */
  public void end(Context context) {
    if (context != null) {
      handles.remove(context.handle());
      context.destroy();
      stack().remove(context);
    }
  }

  /** Fails the call if work of the context has failed. */
  public static void checkError(Context context) {
    if (context.error() != 0) {
      throw new CudaException(context.error(), "the context has failed");
    }
  }
}
