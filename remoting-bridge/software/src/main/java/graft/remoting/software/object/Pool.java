package graft.remoting.software.object;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A CUmemoryPool. All pools allocate from the device's memory in the same way; a pool only stores
 * the attributes that a program sets.
 */
public record Pool(int device, boolean isDefault, Map<Integer, Long> attributes) {
  public Pool(int device, boolean isDefault) {
    this(device, isDefault, new ConcurrentHashMap<>());
  }
}
