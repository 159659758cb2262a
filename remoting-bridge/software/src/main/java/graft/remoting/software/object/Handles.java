package graft.remoting.software.object;

import graft.remoting.device.CudaResult;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Objects by the handles that programs have for them; a handle is never given twice. */
public final class Handles {
  private final Map<Long, Object> objects = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong(0x5000_0000_0000L);

  public long add(Object object) {
    long handle = last.addAndGet(16);
    objects.put(handle, object);
    return handle;
  }

  /** The object of a handle. */
  public <T> T get(long handle, Class<T> type) {
    Object found = objects.get(handle);
    if (!type.isInstance(found)) {
      throw new CudaException(
          CudaResult.INVALID_HANDLE,
          "0x" + Long.toHexString(handle) + " is no " + type.getSimpleName());
    }
    return type.cast(found);
  }

  /** The object of a handle, or null if it is none of that type. */
  public <T> T find(long handle, Class<T> type) {
    Object found = objects.get(handle);
    return type.isInstance(found) ? type.cast(found) : null;
  }

  /** All objects of a type. */
  public <T> List<T> all(Class<T> type) {
    return objects.values().stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** The handle of an object; it gets one if it has none. */
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
