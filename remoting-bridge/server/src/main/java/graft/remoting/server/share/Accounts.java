package graft.remoting.server.share;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The accounts of the guests of one GPU in a file that the process maps, so that they outlive it:
 * the next arbiter of the GPU goes on with them. The file has a header of 2 words of 8 bytes
 * ({@link #MAGIC}, and when the accounts were written, in nanoseconds since the machine's start),
 * and then 2 words for each guest: the hash of its name, 0 for none, and its lag in nanoseconds
 * ({@link FairQueue}).
 *
 * <p>A file with other contents is as good as none. A debt from the file is made smaller by the
 * time that has passed, since the guest may have paid in it, and is no larger than {@link
 * #MOST_DEBT}. Not thread-safe.
 */
final class Accounts {
  /** "graft-1" and the number of the format. */
  static final long MAGIC = 0x67726166742d3101L;

  /** The largest number of guests; the accounts of more are not kept. */
  static final int MOST = 1023;

  /** The largest debt that a guest has after a change of arbiters, in nanoseconds. */
  static final long MOST_DEBT = 600_000_000_000L;

  private static final int HEAD = 2;
  private static final int ENTRY = 2;
  private static final int WORDS = HEAD + MOST * ENTRY;

  private final LongBuffer words;

  /** What the last arbiter has written of guests that this one has not seen yet. */
  private final Map<Long, Long> inherited = new LinkedHashMap<>();

  /** The number of accounts in the file. */
  private int written;

  private Accounts(LongBuffer words) {
    this.words = words;
  }

  /**
   * Maps the file, which is made with mode 0600 if there is none.
   *
   * @param now the time, in nanoseconds since the machine's start
   */
  static Accounts open(Path file, long now) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      MappedByteBuffer mapped =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) WORDS * Long.BYTES);
      Accounts accounts = new Accounts(mapped.order(ByteOrder.nativeOrder()).asLongBuffer());
      accounts.read(now);
      return accounts;
    }
  }

  private void read(long now) {
    long passed = now - words.get(1);
    if (words.get(0) != MAGIC || passed < 0) {
      return; // another format, or an earlier start of the machine
    }
    for (int i = 0; i < MOST; i++) {
      long name = words.get(HEAD + i * ENTRY);
      long lag = words.get(HEAD + i * ENTRY + 1);
      long kept = lag < 0 ? Math.min(0, Math.max(lag, -MOST_DEBT) + passed) : lag;
      if (name != 0 && kept != 0) {
        inherited.put(name, Math.min(kept, FairQueue.MOST_CREDIT));
      }
    }
    written = MOST;
  }

  /** Returns the lag of a guest that the last arbiter has left, and 0 after the first call. */
  long take(String name) {
    Long lag = inherited.remove(hash(name));
    return lag == null ? 0 : lag;
  }

  /** Writes the accounts of an arbiter, and those that no guest has taken. */
  void write(DeviceArbiter arbiter, long now) {
    int before = written;
    written = 0;
    arbiter.accounts((name, lag) -> put(hash(name), (long) lag));
    inherited.forEach(this::put);
    for (int i = written; i < before; i++) {
      words.put(HEAD + i * ENTRY, 0);
    }
    words.put(1, now);
    words.put(0, MAGIC);
  }

  /** Writes an account. If the process ends in between, the guest has none. */
  private void put(long name, long lag) {
    if (lag != 0 && written < MOST) {
      int at = HEAD + written++ * ENTRY;
      if (words.get(at) != name) {
        words.put(at + 1, 0);
        words.put(at, name);
      }
      words.put(at + 1, lag);
    }
  }

  /** FNV-1a with 64 bits (G. Fowler, L. Noll, K. Vo); never 0. */
  static long hash(String name) {
    long hash = 0xcbf29ce484222325L;
    for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (each & 0xff)) * 0x100000001b3L;
    }
    return hash == 0 ? 1 : hash;
  }
}
