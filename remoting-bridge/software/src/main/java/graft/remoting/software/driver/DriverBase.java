package graft.remoting.software.driver;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.image.ImageException;
import graft.remoting.software.memory.Native;
import graft.remoting.software.module.LoadedModule;
import graft.remoting.software.ptx.PtxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Unsafe;

/** What all groups of driver calls share: devices, handles, the current context, errors. */
abstract class DriverBase implements CudaDevice, AutoCloseable {
  /** Access to the caller's memory. */
  protected static final Unsafe UNSAFE = Native.UNSAFE;

  private static final Logger LOG = LoggerFactory.getLogger("graft.remoting.software");

  private final List<Gpu> gpus = new ArrayList<>();
  private final Handles handles = new Handles();
  private final ThreadLocal<Deque<Context>> current = ThreadLocal.withInitial(ArrayDeque::new);
  private volatile boolean initialized;

  DriverBase(SoftwareDeviceConfig config) {
    for (int i = 0; i < config.deviceCount(); i++) {
      gpus.add(new Gpu(i, config));
    }
  }

  /** Something to do for a driver call. */
  protected interface Action {
    void run();
  }

  /** Runs the body of a driver call and turns what it throws into a CUresult. */
  protected final int call(Action action) {
    if (!initialized) {
      return CudaResult.NOT_INITIALIZED;
    }
    return guard(action);
  }

  /** As {@link #call}, but also before cuInit. */
  protected final int guard(Action action) {
    try {
      action.run();
      return CudaResult.SUCCESS;
    } catch (CudaException e) {
      LOG.debug("{}", e.getMessage());
      return e.code();
    } catch (PtxException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return e.isUnsupported() ? CudaResult.NOT_SUPPORTED : CudaResult.INVALID_PTX;
    } catch (ImageException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return e.code();
    } catch (LoadedModule.NoMemoryException e) {
      LOG.error("module not loaded: {}", e.getMessage());
      return CudaResult.OUT_OF_MEMORY;
    } catch (OutOfMemoryError e) {
      LOG.error("out of memory on the server: {}", e.getMessage());
      return CudaResult.OUT_OF_MEMORY;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.error("error of the software device itself", e);
      return CudaResult.UNKNOWN;
    }
  }

  protected final void setInitialized() {
    initialized = true;
  }

  protected final List<Gpu> gpus() {
    return gpus;
  }

  protected final Gpu gpu(int device) {
    if (device < 0 || device >= gpus.size()) {
      throw new CudaException(CudaResult.INVALID_DEVICE, "there is no device " + device);
    }
    return gpus.get(device);
  }

  protected final Handles handles() {
    return handles;
  }

  // ---- contexts

  /** The contexts that the calling thread has pushed, the current one first. */
  protected final Deque<Context> contextStack() {
    return current.get();
  }

  /** The calling thread's context; it must be there and without an error. */
  protected final Context context() {
    Context context = current.get().peek();
    if (context == null) {
      throw new CudaException(CudaResult.INVALID_CONTEXT, "no context is current");
    }
    if (context.isDestroyed()) {
      throw new CudaException(CudaResult.CONTEXT_IS_DESTROYED, "the context is destroyed");
    }
    checkError(context);
    return context;
  }

  /** Waits for the current context's work, if there is one, also if it has failed. */
  protected final void awaitCurrent() {
    Context context = current.get().peek();
    if (context != null && !context.isDestroyed()) {
      context.awaitAll();
    }
  }

  protected static void checkError(Context context) {
    if (context.error() != 0) {
      throw new CudaException(context.error(), "the context has failed");
    }
  }

  protected final Context contextOf(long handle) {
    return handle == 0 ? context() : handles.get(handle, Context.class);
  }

  // ---- streams

  /** CU_STREAM_LEGACY. */
  private static final long LEGACY = 1;

  /** CU_STREAM_PER_THREAD. */
  private static final long PER_THREAD = 2;

  protected final Stream stream(long handle) {
    if (handle == 0 || handle == LEGACY) {
      return context().legacy();
    }
    if (handle == PER_THREAD) {
      return context().perThread();
    }
    Stream stream = handles.get(handle, Stream.class);
    checkError(stream.context());
    return stream;
  }

  /** Adds work to a stream, or a node to the graph that the stream captures. */
  protected final Task submit(Stream stream, GraphNode.Type type, Runnable body) {
    Capture capture = stream.capture();
    if (capture == null) {
      return stream.context().submit(stream, body, List.of());
    }
    if (capture.isInvalid()) {
      throw new CudaException(CudaResult.STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
    }
    synchronized (capture.graph()) {
      GraphNode node = capture.graph().add(type, body, capture.frontier());
      node.setHandle(handles.add(node));
      capture.add(node);
    }
    return null;
  }

  /** Does work of a call that returns when it is done. */
  protected final void runNow(GraphNode.Type type, Runnable body) {
    Stream stream = context().legacy();
    if (stream.capture() != null) {
      submit(stream, type, body);
      return;
    }
    stream.context().runInOrder(stream, body);
    checkError(stream.context());
  }

  // ---- the caller's memory

  protected static void require(boolean condition, String message) {
    if (!condition) {
      throw new CudaException(CudaResult.INVALID_VALUE, message);
    }
  }

  protected static void putInt(long address, int value) {
    require(address != 0, "null pointer for a result");
    UNSAFE.putInt(address, value);
  }

  protected static void putLong(long address, long value) {
    require(address != 0, "null pointer for a result");
    UNSAFE.putLong(address, value);
  }

  /** Three numbers, such as sizes along x, y and z. */
  protected static int[] ints(long address) {
    return new int[] {
      UNSAFE.getInt(address), UNSAFE.getInt(address + 4), UNSAFE.getInt(address + 8)
    };
  }

  /** Writes text with its final zero into a buffer, cut to fit. */
  protected static void putText(long address, int capacity, String text) {
    require(address != 0 && capacity > 0, "no room for text");
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, capacity - 1);
    Native.put(address, bytes, length);
    UNSAFE.putByte(address + length, (byte) 0);
  }

  /** Ends all work and gives all memory back. */
  @Override
  public void close() {
    for (Gpu gpu : gpus) {
      Context primary = gpu.takePrimary();
      if (primary != null) {
        primary.destroy();
      }
      gpu.close();
    }
  }
}
