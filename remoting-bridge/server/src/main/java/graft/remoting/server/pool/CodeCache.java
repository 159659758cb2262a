package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.exchange.CodeExchange;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The code that clients have sent, for {@link CodeExchange}. A session relies on the hashes that it
 * was told are known, so that no such code is dropped while the session lives; if that fills the
 * share of a name, no further code of the name is kept. Otherwise the code that has been unused for
 * longest is dropped first.
 */
public final class CodeCache {
  private static final long MOST_OF_A_NAME = 256L << 20;
  private static final long MOST_IN_ALL = 1L << 30;

  @GuardedBy("this")
  private final Map<String, Kept> names = new HashMap<>();

  @GuardedBy("this")
  private long bytes;

  private record Code(int fd, long bytes) {}

  private static final class Kept {
    /** In order of use, the most recently used last. */
    private final LinkedHashMap<Bytes, Code> codes = new LinkedHashMap<>(16, 0.75f, true);

    private final Set<Long> told = new HashSet<>();
    private long bytes;
  }

  /** Returns the hashes of the code that is kept for the session's name, concatenated. */
  synchronized Bytes known(ServedSession session) {
    Kept kept = names.computeIfAbsent(session.name(), name -> new Kept());
    if (kept.told.isEmpty() && isNearlyFull(kept)) {
      shrink(kept);
    }
    kept.told.add(session.id());
    ByteArrayOutputStream hashes = new ByteArrayOutputStream();
    for (Bytes hash : kept.codes.keySet()) {
      hashes.writeBytes(hash.array());
    }
    return Bytes.of(hashes.toByteArray());
  }

  private static boolean isNearlyFull(Kept kept) {
    return kept.bytes > MOST_OF_A_NAME / 4 * 3 || kept.codes.size() > CodeExchange.MOST / 4 * 3;
  }

  @GuardedBy("this")
  private void shrink(Kept kept) {
    Iterator<Code> oldest = kept.codes.values().iterator();
    while (kept.bytes > MOST_OF_A_NAME / 2 || kept.codes.size() > CodeExchange.MOST / 2) {
      Code code = oldest.next();
      oldest.remove();
      forget(kept, code);
    }
  }

  @GuardedBy("this")
  private void forget(Kept kept, Code code) {
    Descriptors.discard(code.fd());
    kept.bytes -= code.bytes();
    bytes -= code.bytes();
  }

  /**
   * Keeps code for the session's name, and takes over the descriptor.
   *
   * @param fd a file that is sealed against changes, so that its size and content stay the same
   * @return false, and nothing is kept, if the share of the name or of the server is full, if the
   *     name has this code already, or if the file can be changed
   */
  synchronized boolean put(ServedSession session, Bytes hash, int fd) {
    Kept kept = names.get(session.name());
    long size = Libc.lseek(fd, 0, Libc.SEEK_END);
    if (kept == null
        || hash.array().length != CodeExchange.HASH
        || !isSealed(fd)
        || size <= 0
        || kept.codes.containsKey(hash)
        || kept.codes.size() >= CodeExchange.MOST
        || size > MOST_OF_A_NAME - kept.bytes
        || size > MOST_IN_ALL - bytes) {
      return false;
    }
    kept.codes.put(hash, new Code(fd, size));
    kept.bytes += size;
    bytes += size;
    return true;
  }

  private static boolean isSealed(int fd) {
    int seals = Libc.fcntl(fd, Libc.F_GET_SEALS, 0);
    return seals >= 0 && (seals & CodeExchange.SEALS) == CodeExchange.SEALS;
  }

  /**
   * Returns this object's descriptor of the code with that hash, -1 if the session's name has none.
   */
  synchronized int find(ServedSession session, Bytes hash) {
    Kept kept = names.get(session.name());
    Code code = kept == null ? null : kept.codes.get(hash);
    return code == null ? -1 : code.fd();
  }

  /** Releases the code that the ended session relied on. */
  synchronized void drop(ServedSession session) {
    Kept kept = names.get(session.name());
    if (kept != null) {
      kept.told.remove(session.id());
    }
  }

  /** Closes all descriptors. */
  synchronized void close() {
    List<Kept> all = new ArrayList<>(names.values());
    names.clear();
    for (Kept kept : all) {
      for (Code code : kept.codes.values()) {
        forget(kept, code);
      }
    }
  }
}
