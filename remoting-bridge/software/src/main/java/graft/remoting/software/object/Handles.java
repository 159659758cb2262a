package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/** The objects that programs know by handles; a handle is never reused. */
public final class Handles {
  private static final long BEFORE_FIRST = 0x5000_0000_0000L;

  private final Map<Long, Object> objects = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong(BEFORE_FIRST);

  public long add(Object object) {
    long handle = last.addAndGet(16);
    objects.put(handle, object);
    return handle;
  }

  /**
   * The object of a handle.
   *
   * @throws AssertionError for a stream that is no more. NVIDIA's driver crashes in each call with
   *     one; a server never hands it such a handle, whatever its clients say
   */
  public <T> T get(long handle, Class<T> type) {
    Object found = objects.get(handle);
    if (found == null && type == Stream.class && wasGiven(handle)) {
      throw new AssertionError("0x" + Long.toHexString(handle) + " is a stream no more");
    }
    if (!type.isInstance(found)) {
      throw new CudaException(
          CudaResult.INVALID_HANDLE,
          "0x" + Long.toHexString(handle) + " is no " + type.getSimpleName());
    }
    return type.cast(found);
  }

  private boolean wasGiven(long handle) {
    return BEFORE_FIRST < handle && handle <= last.get();
  }

  /** The objects of an array of handles. */
  public <T> List<T> get(long array, long count, Class<T> type) {
    return LongStream.range(0, count)
        .mapToObj(i -> get(Native.UNSAFE.getLong(array + Long.BYTES * i), type))
        .toList();
  }

  /** Returns the object of a handle, or null if it is not of that type. */
  public <T> T find(long handle, Class<T> type) {
    Object found = objects.get(handle);
    return type.isInstance(found) ? type.cast(found) : null;
  }

  /** All objects of a type. */
  public <T> List<T> all(Class<T> type) {
    return objects.values().stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** Returns the handle of an object, which gets one if it has none. */
  public long handleOf(Object object) {
    for (Map.Entry<Long, Object> e : objects.entrySet()) {
      if (e.getValue() == object) {
        return e.getKey();
      }
    }
    return add(object);
  }

  public void remove(long handle) {
    objects.remove(handle);
  }
}
