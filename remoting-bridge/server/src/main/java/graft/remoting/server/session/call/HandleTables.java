package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * A session's objects, by kind and id. The client chooses ids from 1 up. For objects that the
 * server finds (a captured graph, a device's default pool) the server chooses ids with bit 31 set,
 * and keeps one id for an object as long as the object lives.
 */
public final class HandleTables {
  private static final long LARGEST_ID = 0xFFFFFFFFL;
  private static final int SERVER_ID = 0x80000000;

  private final Map<HandleKind, Objects> kinds = new EnumMap<>(HandleKind.class);
  private final UsedStreams usedStreams = new UsedStreams();
  private int lastServerId;

  /** The objects of one kind, and the ids of their handles. */
  private record Objects(HandleTable table, Map<Long, Integer> known) {}

  public HandleTables() {
    for (HandleKind kind : HandleKind.values()) {
      kinds.put(kind, new Objects(new HandleTable(), new HashMap<>()));
    }
  }

  /**
   * Returns whether the server may find objects of this kind. It never finds streams and events,
   * which come and go often, so no map from their handles to ids is kept.
   */
  private static boolean isFound(HandleKind kind) {
    return kind != HandleKind.STREAM && kind != HandleKind.EVENT;
  }

  /** Returns the handle of an id, or 0 if there is none. */
  public long find(HandleKind kind, long id) {
    return id < 0 || id > LARGEST_ID ? 0 : kinds.get(kind).table().find((int) id);
  }

  /**
   * Enters an object that a call has created under the client's id.
   *
   * @throws RefusedCallException if the client may not use that id
   */
  void put(HandleKind kind, long id, long handle) {
    // A handle of 0 stands for an object that needs none of the device's. The id then finds
    // nothing, like NULL.
    if (id <= 0 || id >= -(long) SERVER_ID || !kinds.get(kind).table().put((int) id, handle)) {
      throw new RefusedCallException(CudaResult.INVALID_HANDLE);
    }
    if (isFound(kind)) {
      kinds.get(kind).known().put(handle, (int) id);
    }
  }

  /** Removes an object by its id. */
  void remove(HandleKind kind, long id) {
    if (id > 0 && id <= LARGEST_ID) {
      long handle = kinds.get(kind).table().remove((int) id);
      if (isFound(kind)) {
        kinds.get(kind).known().remove(handle, (int) id);
      } else if (kind == HandleKind.STREAM) {
        usedStreams.remove(handle);
      }
    }
  }

  /** Removes an object by its handle. */
  public void forget(HandleKind kind, long handle) {
    Integer id = kinds.get(kind).known().remove(handle);
    if (id != null) {
      kinds.get(kind).table().remove(id);
    }
  }

  /** Returns the streams that the client has named since all work was last known to be finished. */
  public UsedStreams usedStreams() {
    return usedStreams;
  }

  /**
   * Returns the id of an object that the server found, and chooses one if the object is new to the
   * client.
   */
  long intern(HandleKind kind, long handle) {
    if (handle == 0) {
      return 0;
    }
    Integer id = kinds.get(kind).known().get(handle);
    if (id == null) {
      id = SERVER_ID | ++lastServerId;
      if (!kinds.get(kind).table().put(id, handle)) {
        throw new RefusedCallException(CudaResult.OUT_OF_MEMORY);
      }
      kinds.get(kind).known().put(handle, id);
    }
    return Integer.toUnsignedLong(id);
  }

  /** Returns all handles of a kind, in no particular order. */
  long[] all(HandleKind kind) {
    return kinds.get(kind).table().all();
  }
}
