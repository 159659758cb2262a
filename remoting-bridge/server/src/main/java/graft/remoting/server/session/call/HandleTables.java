package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * A session's objects, by kind and id. The client makes ids from 1 up; the server makes ids with
 * bit 31 set for objects that it found (a captured graph, a device's default pool), the same id for
 * the same object as long as it lives.
 */
public final class HandleTables {
  private static final long LARGEST_ID = 0xFFFFFFFFL;
  private static final int SERVER_ID = 0x80000000;

  private final Map<HandleKind, Objects> kinds = new EnumMap<>(HandleKind.class);
  private final UsedStreams usedStreams = new UsedStreams();
  private int lastServerId;

  /** The objects of one kind, and the way back from their handles. */
  private record Objects(HandleTable table, Map<Long, Integer> known) {}

  public HandleTables() {
    for (HandleKind kind : HandleKind.values()) {
      kinds.put(kind, new Objects(new HandleTable(), new HashMap<>()));
    }
  }

  /**
   * Streams and events come and go often and are never found by the server: their ids need no way
   * back.
   */
  private static boolean isFound(HandleKind kind) {
    return kind != HandleKind.STREAM && kind != HandleKind.EVENT;
  }

  /** The handle of an id, 0 when there is none. */
  public long find(HandleKind kind, long id) {
    return id < 0 || id > LARGEST_ID ? 0 : kinds.get(kind).table().find((int) id);
  }

  /**
   * Enters an object that a call has made under the client's id.
   *
   * @throws RefusedCallException when the client may not use that id
   */
  void put(HandleKind kind, long id, long handle) {
    // A handle of 0 is an object that the device has none of its own for; the id then finds
    // nothing, like NULL.
    if (id <= 0 || id >= -(long) SERVER_ID || !kinds.get(kind).table().put((int) id, handle)) {
      throw new RefusedCallException(CudaResult.INVALID_HANDLE);
    }
    if (isFound(kind)) {
      kinds.get(kind).known().put(handle, (int) id);
    }
  }

  /** Forgets an object. */
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

  /** Forgets an object by its handle. */
  public void forget(HandleKind kind, long handle) {
    Integer id = kinds.get(kind).known().remove(handle);
    if (id != null) {
      kinds.get(kind).table().remove(id);
    }
  }

  /** The streams that the client has named since the last time that all work was over. */
  public UsedStreams usedStreams() {
    return usedStreams;
  }

  /** The id of an object that the server found; a new one, if the client does not know it yet. */
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

  /** The handles of a kind, in no order. */
  long[] all(HandleKind kind) {
    return kinds.get(kind).table().all();
  }
}
