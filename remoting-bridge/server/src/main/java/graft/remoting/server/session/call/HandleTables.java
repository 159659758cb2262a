package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.memory.HostMemory;
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
  private static final int MOST_NAMELESS = 1_000;

  private final Map<HandleKind, Objects> kinds = new EnumMap<>(HandleKind.class);
  private final UsedStreams usedStreams = new UsedStreams();
  private final HostMemory memory;
  private int lastServerId;

  /** The objects that the driver made and that could not get an id. */
  private int nameless;

  /** The owner of what the current record makes, by default the current context. */
  private HandleOwner context;

  private HandleOwner special;

  /** The objects of one kind, and the ids of their handles. */
  private record Objects(HandleTable table, Map<Long, Integer> known) {}

  /**
   * Creates the tables of a session.
   *
   * @param memory where each object counts
   */
  public HandleTables(HostMemory memory) {
    this.memory = memory;
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
   * Notes the context in which the next record makes objects.
   *
   * @param handle the driver's handle, 0 for none
   */
  public void inContext(long handle) {
    special = null;
    if (context == null || context.handle() != handle) {
      context = new HandleOwner(HandleKind.CONTEXT, handle);
      usedStreams.changeContext(handle);
    }
  }

  /** Notes that the objects which the current record makes end with another object. */
  public void madeOf(HandleKind kind, long handle) {
    special = new HandleOwner(kind, handle);
  }

  /** Returns the object that an object made now ends with, null if it lives by itself. */
  private HandleOwner owner(HandleKind kind) {
    return switch (kind) {
      case CONTEXT, LIBRARY, GRAPH, NODE, EXEC, POOL, LINK, USEROBJECT -> null;
      case MODULE, FUNCTION, STREAM, EVENT, ARRAY, MIPMAP, TEXREF, SURFREF ->
          special != null ? special : context;
    };
  }

  /**
   * Removes the objects that have ended with their owner, which the client might still name: the
   * driver may have given their handles to other objects.
   */
  public void dropOwned(HandleKind kind, long handle) {
    HandleOwner owner = new HandleOwner(kind, handle);
    kinds.forEach(
        (of, objects) -> {
          for (int id : objects.table().ownedBy(owner)) {
            remove(of, Integer.toUnsignedLong(id));
          }
        });
    if (kind == HandleKind.CONTEXT) {
      usedStreams.forget(handle);
    }
  }

  /**
   * Counts an object that the driver has made. Those that get no id stay counted, and many of them
   * end the session, since their number is not limited otherwise.
   */
  private void enter(HandleKind kind, int id, long handle) {
    if (handle == 0) {
      throw new RefusedCallException(CudaResult.INVALID_HANDLE);
    }
    boolean counted = memory.take(HostMemory.OBJECT);
    if (counted && kinds.get(kind).table().put(id, handle, owner(kind))) {
      return;
    }
    if (++nameless > MOST_NAMELESS) {
      throw new ProtocolException(
          "the session has made " + nameless + " objects for which it has no room or no free id");
    }
    throw new RefusedCallException(counted ? CudaResult.INVALID_HANDLE : CudaResult.OUT_OF_MEMORY);
  }

  /**
   * Enters an object that a call has created under the client's id.
   *
   * @throws RefusedCallException if the client may not use that id, or the session's objects count
   *     as much host memory as it may have
   */
  void put(HandleKind kind, long id, long handle) {
    // A handle of 0 stands for an object that needs none of the device's. The id then finds
    // nothing, like NULL.
    boolean mayBeChosen = id > 0 && id < -(long) SERVER_ID;
    enter(kind, mayBeChosen ? (int) id : 0, handle);
    if (isFound(kind)) {
      kinds.get(kind).known().put(handle, (int) id);
    }
  }

  /** Removes an object by its id. */
  void remove(HandleKind kind, long id) {
    if (id > 0 && id <= LARGEST_ID) {
      long handle = kinds.get(kind).table().remove((int) id);
      if (handle == 0) {
        return;
      }
      memory.give(HostMemory.OBJECT);
      if (kind == HandleKind.MODULE || kind == HandleKind.LIBRARY) {
        dropOwned(kind, handle);
      }
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
    if (id != null && kinds.get(kind).table().remove(id) != 0) {
      memory.give(HostMemory.OBJECT);
    }
  }

  /** Notes that a call names a stream, which may be of another context than the current one. */
  void uses(long id, long stream) {
    if (!usedStreams.isLast(stream)) {
      HandleOwner owner = kinds.get(HandleKind.STREAM).table().owner((int) id);
      usedStreams.add(stream, owner == null ? 0 : owner.handle());
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
      enter(kind, id, handle);
      kinds.get(kind).known().put(handle, id);
    }
    return Integer.toUnsignedLong(id);
  }

  /** Returns all handles of a kind, in no particular order. */
  long[] all(HandleKind kind) {
    return kinds.get(kind).table().all();
  }
}
