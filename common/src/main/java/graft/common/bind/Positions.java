package graft.common.bind;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The position of each record, and of each of its keys, in the file. The positions are kept beside
 * the records, so that the records hold nothing but what the user wrote.
 */
public final class Positions {
  private final IdentityHashMap<Object, Map<String, Position>> byRecord = new IdentityHashMap<>();
  private final Position start;

  /**
   * Creates the positions of a file. A record that did not come from this file has the position
   * {@code start}.
   */
  public Positions(Position start) {
    this.start = start;
  }

  void put(Object bound, Position own, Map<String, Position> keys) {
    Map<String, Position> all = new HashMap<>(keys);
    all.put("", own);
    byRecord.put(bound, all);
  }

  /** Gives a derived record the position of the record that it was derived from. */
  public void same(Object copy, Object original) {
    byRecord.put(copy, byRecord.getOrDefault(original, Map.of("", start)));
  }

  /** The position at which the record begins. */
  public Position of(Object bound) {
    return of(bound, "");
  }

  /** Whether a key of the record was written. */
  public boolean has(Object bound, String key) {
    return byRecord.getOrDefault(bound, Map.of()).containsKey(key);
  }

  /**
   * The position at which the value of a key begins; if the key is absent, the position of the
   * record.
   */
  public Position of(Object bound, String key) {
    Map<String, Position> keys = byRecord.getOrDefault(bound, Map.of());
    Position own = keys.getOrDefault("", start);
    return keys.getOrDefault(key, own);
  }
}
