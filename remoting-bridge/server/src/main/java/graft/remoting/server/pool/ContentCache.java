package graft.remoting.server.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import java.io.ByteArrayOutputStream;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The contents that clients have sent, for {@link ContentExchange}. A session relies on the hashes
 * that it was told are known, so that no such content is dropped while the session lives; if that
 * fills the share of a name, nothing further of the name is kept. Otherwise contents are dropped,
 * those first that have been unused for longest: of a name, when its next session begins while its
 * share is nearly full, and only what its last session has not used; of names without a session,
 * when another name needs the room.
 */
final class ContentCache {
  /**
   * What may be kept.
   *
   * @param ofName the most bytes of a name
   * @param inAll the most bytes of all names together
   * @param count the most contents of a name
   */
  record Limits(long ofName, long inAll, int count) {}

  private final Limits limits;

  /** In order of the last session's begin. */
  @GuardedBy("this")
  private final Map<String, Kept> names = new LinkedHashMap<>();

  @GuardedBy("this")
  private long bytes;

  private static final class Content {
    private final int fd;
    private final long bytes;

    /** The number of the name's session that has used it last. */
    private long user;

    private Content(int fd, long bytes) {
      this.fd = fd;
      this.bytes = bytes;
    }
  }

  private static final class Kept {
    /** In order of use, the most recently used last. */
    private final LinkedHashMap<Bytes, Content> contents = new LinkedHashMap<>(16, 0.75f, true);

    private final Set<Long> told = new HashSet<>();
    private final Set<Long> users = new HashSet<>();
    private long count;
    private long bytes;

    /** Notes that a session uses a content. Sessions that use none do not count. */
    private void use(ServedSession session, Content content) {
      if (users.add(session.id())) {
        count++;
      }
      content.user = count;
    }
  }

  ContentCache(Limits limits) {
    this.limits = limits;
  }

  /** Returns the hashes of the contents that are kept for the session's name, concatenated. */
  synchronized Bytes known(ServedSession session) {
    Kept before = names.remove(session.name());
    Kept kept = before == null ? new Kept() : before;
    names.put(session.name(), kept);
    if (kept.told.isEmpty() && isOver(kept, 3, 4)) {
      dropUnused(kept);
    }
    kept.told.add(session.id());
    ByteArrayOutputStream hashes = new ByteArrayOutputStream();
    for (Bytes hash : kept.contents.keySet()) {
      hashes.writeBytes(hash.array());
    }
    return Bytes.of(hashes.toByteArray());
  }

  /** Returns whether more than a part of the name's share is in use. */
  private boolean isOver(Kept kept, int part, int whole) {
    return kept.bytes > limits.ofName() / whole * part
        || kept.contents.size() > limits.count() / whole * part;
  }

  @GuardedBy("this")
  private void dropUnused(Kept kept) {
    Iterator<Content> oldest = kept.contents.values().iterator();
    while (oldest.hasNext() && isOver(kept, 1, 2)) {
      Content content = oldest.next();
      if (content.user == kept.count) {
        return;
      }
      oldest.remove();
      forget(kept, content);
    }
  }

  @GuardedBy("this")
  private void forget(Kept kept, Content content) {
    Descriptors.discard(content.fd);
    kept.bytes -= content.bytes;
    bytes -= content.bytes;
  }

  /**
   * Keeps a content for the session's name, and takes over the descriptor.
   *
   * @param fd a file that is sealed against changes, so that its size and content stay the same
   * @return false, and nothing is kept, if the share of the name or of the server is full, if the
   *     name has this content already, or if the file can be changed
   */
  synchronized boolean put(ServedSession session, Bytes hash, int fd) {
    Kept kept = names.get(session.name());
    long size = Libc.lseek(fd, 0, Libc.SEEK_END);
    if (kept == null
        || hash.array().length != ContentExchange.HASH
        || !isSealed(fd)
        || size <= 0
        || kept.contents.containsKey(hash)
        || kept.contents.size() >= limits.count()
        || size > limits.ofName() - kept.bytes
        || !makeRoom(size)) {
      return false;
    }
    Content content = new Content(fd, size);
    kept.contents.put(hash, content);
    kept.use(session, content);
    kept.bytes += size;
    bytes += size;
    return true;
  }

  /** Drops contents of names without a session until there is room. */
  @GuardedBy("this")
  private boolean makeRoom(long size) {
    Iterator<Kept> longestAgo = names.values().iterator();
    while (size > limits.inAll() - bytes && longestAgo.hasNext()) {
      Kept kept = longestAgo.next();
      Iterator<Content> oldest = kept.contents.values().iterator();
      while (kept.told.isEmpty() && size > limits.inAll() - bytes && oldest.hasNext()) {
        Content content = oldest.next();
        oldest.remove();
        forget(kept, content);
      }
    }
    return size <= limits.inAll() - bytes;
  }

  private static boolean isSealed(int fd) {
    int seals = Libc.fcntl(fd, Libc.F_GET_SEALS, 0);
    return seals >= 0 && (seals & ContentExchange.SEALS) == ContentExchange.SEALS;
  }

  /**
   * Returns this object's descriptor of the content with that hash, -1 if the session's name has
   * none.
   */
  synchronized int find(ServedSession session, Bytes hash) {
    Kept kept = names.get(session.name());
    Content content = kept == null ? null : kept.contents.get(hash);
    if (content == null) {
      return -1;
    }
    kept.use(session, content);
    return content.fd;
  }

  /** Releases the contents that the ended session relied on. */
  synchronized void drop(ServedSession session) {
    Kept kept = names.get(session.name());
    if (kept != null) {
      kept.told.remove(session.id());
      kept.users.remove(session.id());
    }
  }

  /** Drops all contents of the names that are not chosen. */
  synchronized void retain(Predicate<String> chosen) {
    Iterator<Map.Entry<String, Kept>> each = names.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<String, Kept> entry = each.next();
      if (!chosen.test(entry.getKey())) {
        each.remove();
        forgetAll(entry.getValue());
      }
    }
  }

  @GuardedBy("this")
  private void forgetAll(Kept kept) {
    for (Content content : kept.contents.values()) {
      forget(kept, content);
    }
  }

  /** Closes all descriptors. */
  synchronized void close() {
    retain(name -> false);
  }
}
