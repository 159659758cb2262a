package graft.remoting.server.session.call;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Maps the client's ids of one kind of object to the driver's handles. Clients choose the ids, and
 * a program counts them up for as long as it runs, so this is a hash table of the live ids with
 * open addressing and linear probing. Not thread-safe: only the session's executor uses it.
 */
final class HandleTable {
  /** The largest number of objects of one kind that a session may have. */
  static final int LIMIT = 1 << 22;

  private static final int SMALLEST = 64;

  private int[] ids = new int[SMALLEST];
  private long[] handles = new long[SMALLEST];
  private HandleOwner[] owners = new HandleOwner[SMALLEST];
  private int size;

  /** Returns the handle of {@code id}, or 0 if there is none. */
  long find(int id) {
    return id == 0 ? 0 : handles[slot(id)];
  }

  /** Returns the object that one ends with; null if there is none. */
  HandleOwner owner(int id) {
    return id == 0 ? null : owners[slot(id)];
  }

  /** Returns the slot of {@code id}, or the free slot where it would be entered. */
  private int slot(int id) {
    int mask = ids.length - 1;
    int slot = id & mask;
    while (handles[slot] != 0 && ids[slot] != id) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /**
   * Enters a handle under an id; neither may be 0.
   *
   * @param owner the object with which this one ends, null if there is none
   * @return false if the id is taken or there are too many objects
   */
  boolean put(int id, long handle, HandleOwner owner) {
    if (id == 0 || handle == 0 || size >= LIMIT || find(id) != 0) {
      return false;
    }
    if (2 * size >= ids.length) {
      grow();
    }
    int slot = slot(id);
    ids[slot] = id;
    handles[slot] = handle;
    owners[slot] = owner;
    size++;
    return true;
  }

  private void grow() {
    int[] oldIds = ids;
    long[] oldHandles = handles;
    HandleOwner[] oldOwners = owners;
    ids = new int[2 * oldIds.length];
    handles = new long[ids.length];
    owners = new HandleOwner[ids.length];
    for (int i = 0; i < oldIds.length; i++) {
      if (oldHandles[i] != 0) {
        int slot = slot(oldIds[i]);
        ids[slot] = oldIds[i];
        handles[slot] = oldHandles[i];
        owners[slot] = oldOwners[i];
      }
    }
  }

  /** Removes an id and returns its handle, or 0 if there is none. */
  long remove(int id) {
    int hole = id == 0 ? -1 : slot(id);
    if (hole < 0 || handles[hole] == 0) {
      return 0;
    }
    long handle = handles[hole];
    size--;
    // Closes the gap, so that the entries behind it stay reachable (Knuth 6.4, algorithm R).
    int mask = ids.length - 1;
    int slot = hole;
    while (true) {
      handles[hole] = 0;
      owners[hole] = null;
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
      owners[hole] = owners[slot];
      hole = slot;
    }
  }

  /** Returns the ids of the objects that end with {@code owner}. */
  int[] ownedBy(HandleOwner owner) {
    return IntStream.range(0, ids.length)
        .filter(slot -> handles[slot] != 0 && owner.equals(owners[slot]))
        .map(slot -> ids[slot])
        .toArray();
  }

  /** Returns all handles, in no particular order. */
  long[] all() {
    return Arrays.stream(handles).filter(handle -> handle != 0).toArray();
  }
}
