package graft.common.bind;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Where each record, and each of its keys, stood in the file. Kept beside the records, so that they
 * hold nothing but what the user wrote.
 */
public final class Positions {
  private final IdentityHashMap<Object, Map<String, Position>> byRecord = new IdentityHashMap<>();
  private final Position start;

  /** Positions of a file; {@code start} answers for records that did not come from it. */
  public Positions(Position start) {
    this.start = start;
  }

  void put(Object bound, Position own, Map<String, Position> keys) {
    Map<String, Position> all = new HashMap<>(keys);
    all.put("", own);
    byRecord.put(bound, all);
  }

  /** Gives a record that was derived from another one the same position. */
  public void same(Object copy, Object original) {
    byRecord.put(copy, byRecord.getOrDefault(original, Map.of("", start)));
  }

  /** Where the record begins. */
  public Position of(Object bound) {
    return of(bound, "");
  }

  /** Where the value of a key of the record begins; the record itself where the key is absent. */
  public Position of(Object bound, String key) {
    Map<String, Position> keys = byRecord.getOrDefault(bound, Map.of());
    Position own = keys.getOrDefault("", start);
    return keys.getOrDefault(key, own);
  }
}
