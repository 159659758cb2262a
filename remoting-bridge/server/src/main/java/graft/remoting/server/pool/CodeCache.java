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
 * The server's side of {@link CodeExchange}. A session relies on what it was told of, so that
 * nothing goes while one that was told lives; a name that has its share then keeps no more. What
 * was not used for longest goes first.
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
    /** The one used last at the end. */
    private final LinkedHashMap<Bytes, Code> codes = new LinkedHashMap<>(16, 0.75f, true);

    private final Set<Long> told = new HashSet<>();
    private long bytes;
  }

  /** The hashes of what is kept for the session's name, one behind the other. */
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
   * Keeps code for the session's name; the descriptor is this object's then.
   *
   * @param fd a file that nobody can change any more, so that it stays as large as it is and as the
   *     sessions find it
   * @return false, and nothing is kept, if the name or the server has enough, or has it already, or
   *     the file can be changed
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

  /** This object's descriptor of that code, -1 if the session's name has none such. */
  synchronized int find(ServedSession session, Bytes hash) {
    Kept kept = names.get(session.name());
    Code code = kept == null ? null : kept.codes.get(hash);
    return code == null ? -1 : code.fd();
  }

  /** A session has ended. */
  synchronized void drop(ServedSession session) {
    Kept kept = names.get(session.name());
    if (kept != null) {
      kept.told.remove(session.id());
    }
  }

  /** Forgets everything. */
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
