package graft.remoting.server.session.call;

import java.util.Arrays;

/**
 * The server's handles of one kind of object by the ids that the client knows them by. Ids come
 * from outside and count up for as long as a program runs, so this is a hash table of the living
 * ones (open addressing, linear probing). Not thread-safe: the session's executor has it.
 */
final class HandleTable {
  /** The most objects of one kind that a session may have. */
  static final int LIMIT = 1 << 22;

  private static final int SMALLEST = 64;

  private int[] ids = new int[SMALLEST];
  private long[] handles = new long[SMALLEST];
  private int size;

  /** The handle of {@code id}, 0 when there is none. */
  long find(int id) {
    return id == 0 ? 0 : handles[slot(id)];
  }

  /** Where {@code id} is, or else the free slot where it would be. */
  private int slot(int id) {
    int mask = ids.length - 1;
    int slot = id & mask;
    while (handles[slot] != 0 && ids[slot] != id) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /**
   * Enters a handle, not 0, under an id, not 0.
   *
   * @return false when the id is taken or there are too many objects
   */
  boolean put(int id, long handle) {
    if (id == 0 || handle == 0 || size >= LIMIT || find(id) != 0) {
      return false;
    }
    if (2 * size >= ids.length) {
      grow();
    }
    int slot = slot(id);
    ids[slot] = id;
    handles[slot] = handle;
    size++;
    return true;
  }

  private void grow() {
    int[] oldIds = ids;
    long[] oldHandles = handles;
    ids = new int[2 * oldIds.length];
    handles = new long[ids.length];
    for (int i = 0; i < oldIds.length; i++) {
      if (oldHandles[i] != 0) {
        int slot = slot(oldIds[i]);
        ids[slot] = oldIds[i];
        handles[slot] = oldHandles[i];
      }
    }
  }

  /** Takes a handle out; it, or 0 when there is none. */
  long remove(int id) {
    int hole = id == 0 ? -1 : slot(id);
    if (hole < 0 || handles[hole] == 0) {
      return 0;
    }
    long handle = handles[hole];
    size--;
    // Close the gap, so that nothing behind it becomes unreachable (Knuth 6.4, algorithm R).
    int mask = ids.length - 1;
    int slot = hole;
    while (true) {
      handles[hole] = 0;
      int home;
      do {
        slot = (slot + 1) & mask;
        if (handles[slot] == 0) {
          return handle;
        }
        home = ids[slot] & mask;
      } while (hole <= slot ? hole < home && home <= slot : hole < home || home <= slot);
      ids[hole] = ids[slot];
      handles[hole] = handles[slot];
      hole = slot;
    }
  }

  /** The handles there are, in no order. */
  long[] all() {
    return Arrays.stream(handles).filter(handle -> handle != 0).toArray();
  }
}
