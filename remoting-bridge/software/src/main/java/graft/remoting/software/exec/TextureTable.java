package graft.remoting.software.exec;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The texture and surface objects of a device by their handles. */
public final class TextureTable {
  private final Map<Long, Texture> textures = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong(0x100000);

  /** Adds an object and returns its handle. */
  public long add(Texture texture) {
    long handle = last.incrementAndGet();
    textures.put(handle, texture);
    return handle;
  }

  /** The object of a handle, or null. */
  public Texture find(long handle) {
    return textures.get(handle);
  }

  /** Removes an object; false if there is none. */
  public boolean remove(long handle) {
    return textures.remove(handle) != null;
  }
}
