package graft.remoting.server;

/**
 * The server's handles of one kind of object by the ids that the client made for them. Ids come
 * from outside: a wrong one is an error of the call, never more.
 *
 * <p>Ids below {@code first} stand for themselves (0 no object, for streams 1 the legacy and 2 the
 * per-thread default stream), the others are kept in pages that appear as they are used. Not
 * thread-safe: the session's executor has it.
 */
public final class HandleTable {
  /** The largest id plus one. */
  public static final int LIMIT = 1 << 22;

  private static final int PAGE_BITS = 10;
  private static final int PAGE = 1 << PAGE_BITS;

  private final String kind;
  private final int first;
  private final long[][] pages = new long[LIMIT >> PAGE_BITS][];

  /**
   * An empty table.
   *
   * @param kind what the handles are, for messages
   * @param first the first id that the client may make
   */
  public HandleTable(String kind, int first) {
    this.kind = kind;
    this.first = first;
  }

  /** What the handles are. */
  public String kind() {
    return kind;
  }

  /**
   * The handle of {@code id}.
   *
   * @throws InvalidHandleException when there is none
   */
  public long get(int id) {
    if (id >= 0 && id < first) {
      return id;
    }
    long[] page = page(id);
    long handle = page == null ? 0 : page[id & (PAGE - 1)];
    if (handle == 0) {
      throw new InvalidHandleException(kind, id);
    }
    return handle;
  }

  /** The handle of {@code id}, 0 when there is none. */
  public long find(int id) {
    if (id >= 0 && id < first) {
      return id;
    }
    long[] page = page(id);
    return page == null ? 0 : page[id & (PAGE - 1)];
  }

  private long[] page(int id) {
    return id < 0 || id >= LIMIT ? null : pages[id >> PAGE_BITS];
  }

  /**
   * Checks that the client may make {@code id}, before the object is made.
   *
   * @throws InvalidHandleException when it is out of range or taken
   */
  public void checkFree(int id) {
    if (id < first || id >= LIMIT || find(id) != 0) {
      throw new InvalidHandleException(kind, id);
    }
  }

  /**
   * Enters a handle, not 0, under an id that is free.
   *
   * @throws InvalidHandleException when the id is out of range or taken
   */
  public void put(int id, long handle) {
    checkFree(id);
    long[] page = pages[id >> PAGE_BITS];
    if (page == null) {
      page = new long[PAGE];
      pages[id >> PAGE_BITS] = page;
    }
    page[id & (PAGE - 1)] = handle;
  }

  /**
   * Takes a handle out.
   *
   * @throws InvalidHandleException when there is none
   */
  public long remove(int id) {
    if (id < first || find(id) == 0) {
      throw new InvalidHandleException(kind, id);
    }
    long[] page = pages[id >> PAGE_BITS];
    long handle = page[id & (PAGE - 1)];
    page[id & (PAGE - 1)] = 0;
    return handle;
  }

  /** Does something with every handle, in the order of the ids. */
  public void forEach(HandleConsumer consumer) {
    for (int p = 0; p < pages.length; p++) {
      long[] page = pages[p];
      for (int i = 0; page != null && i < PAGE; i++) {
        if (page[i] != 0) {
          consumer.accept((p << PAGE_BITS) + i, page[i]);
        }
      }
    }
  }

  /** Gets an id and its handle. */
  @FunctionalInterface
  public interface HandleConsumer {
    /** Called for each. */
    void accept(int id, long handle);
  }
}
