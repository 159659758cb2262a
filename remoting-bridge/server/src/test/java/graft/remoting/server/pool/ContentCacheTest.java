package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What the server keeps: separate for each name, within limits, and for as long as a session relies
 * on it.
 */
final class ContentCacheTest {
  private static final Bytes HASH = hash(1);
  private static final ContentCache.Limits LIMITS =
      new ContentCache.Limits(256 << 20, 1 << 30, ContentExchange.Kind.CODE.most());

  private final ContentCache cache = new ContentCache(LIMITS);
  private final ServedSession session = session(1, "alice");

  @AfterEach
  void forgetEverything() {
    cache.close();
  }

  private static ServedSession session(long id, String name) {
    return new ServedSession(
        id,
        HASH,
        new ServedSession.Client(name, "peer", "tcp", "", SessionLimits.NONE),
        DeviceSpec.parse("software"),
        LeasePage.none());
  }

  private static Bytes hash(int number) {
    byte[] bytes = new byte[ContentExchange.HASH];
    bytes[0] = (byte) number;
    bytes[1] = (byte) (number >> 8);
    return Bytes.of(bytes);
  }

  /** A sparse file, since only its length matters. */
  private static int file(long bytes) {
    int fd = open(bytes);
    assertThat(Libc.fcntl(fd, Libc.F_ADD_SEALS, ContentExchange.SEALS)).isZero();
    return fd;
  }

  /** A file that its sender can still change. */
  private static int open(long bytes) {
    int fd = Libc.memfd_create("code", Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    try (Scratch one = new Scratch(1)) {
      Libc.lseek(fd, bytes - 1, Libc.SEEK_SET);
      assertThat(Libc.write(fd, one.address(), 1)).isEqualTo(1);
    }
    return fd;
  }

  private boolean put(ServedSession by, Bytes hash, long bytes) {
    int fd = file(bytes);
    boolean taken = cache.put(by, hash, fd);
    if (!taken) {
      Libc.close(fd);
    }
    return taken;
  }

  @Test
  void whatCanStillBeChangedIsNotKept() throws Exception {
    cache.known(session);
    int fd = open(1000);
    assertThat(cache.put(session, HASH, fd)).isFalse();
    Libc.close(fd);
    try (Scratch ends = new Scratch(8)) {
      assertThat(Libc.pipe2(ends.address(), Libc.O_CLOEXEC)).isZero();
      assertThat(cache.put(session, HASH, Memory.getInt(ends.address()))).isFalse();
      Libc.close(Memory.getInt(ends.address()));
      Libc.close(Memory.getInt(ends.address() + 4));
    }
    assertThat(put(session, Bytes.of(new byte[7]), 1000)).isFalse();
  }

  @Test
  void whatOneSessionSentTheNextOfItsNameKnows() {
    cache.known(session);
    assertThat(put(session, HASH, 1000)).isTrue();
    cache.drop(session);
    ServedSession next = session(2, "alice");
    assertThat(cache.known(next)).isEqualTo(HASH);
    assertThat(cache.find(next, HASH)).isNotNegative();
  }

  @Test
  void anotherNameLearnsNothingOfIt() {
    cache.known(session);
    put(session, HASH, 1000);
    ServedSession other = session(2, "bob");
    assertThat(cache.known(other)).isEqualTo(Bytes.NONE);
    assertThat(cache.find(other, HASH)).isNegative();
  }

  @Test
  void nothingReplacesWhatIsThere() {
    cache.known(session);
    put(session, HASH, 1000);
    int there = cache.find(session, HASH);
    assertThat(put(session, HASH, 2000)).isFalse();
    assertThat(cache.find(session, HASH)).isEqualTo(there);
  }

  @Test
  void aNameHasNoMoreThanItsShare() {
    cache.known(session);
    assertThat(put(session, HASH, 200 << 20)).isTrue();
    assertThat(put(session, hash(2), 100 << 20)).isFalse();
    ServedSession other = session(2, "bob");
    cache.known(other);
    assertThat(put(other, HASH, 200 << 20)).isTrue();
  }

  @Test
  void allNamesTogetherHaveNoMoreThanTheServerKeeps() {
    int kept = 0;
    for (int i = 0; i < 10; i++) {
      ServedSession one = session(i, "name" + i);
      cache.known(one);
      kept += put(one, HASH, 200 << 20) ? 1 : 0;
    }
    assertThat(kept).isEqualTo(5);
  }

  @Test
  void nothingGoesWhileASessionReliesOnIt() {
    cache.known(session);
    put(session, HASH, 200 << 20);
    ServedSession next = session(2, "alice");
    assertThat(cache.known(next)).isEqualTo(HASH);
    put(next, hash(2), 1000);
    cache.drop(session);
    assertThat(cache.known(session(3, "alice"))).isEqualTo(both(HASH, hash(2)));
  }

  private static Bytes both(Bytes one, Bytes other) {
    byte[] all = java.util.Arrays.copyOf(one.array(), 2 * ContentExchange.HASH);
    System.arraycopy(other.array(), 0, all, ContentExchange.HASH, ContentExchange.HASH);
    return Bytes.of(all);
  }

  private void inSession(long id, Runnable does) {
    cache.known(session(id, "alice"));
    does.run();
    cache.drop(session(id, "alice"));
  }

  /**
   * A program that fills the share finds it all again; sessions that use nothing change nothing.
   */
  @Test
  void whatTheLastSessionUsedStays() {
    inSession(1, () -> put(session, HASH, 200 << 20));
    inSession(2, () -> cache.find(session(2, "alice"), HASH));
    inSession(3, () -> {});
    assertThat(cache.known(session(4, "alice"))).isEqualTo(HASH);
  }

  @Test
  void whatTheLastSessionDidNotUseMakesRoom() {
    inSession(1, () -> put(session, HASH, 200 << 20));
    inSession(2, () -> put(session(2, "alice"), hash(2), 50 << 20));
    assertThat(cache.known(session(3, "alice"))).isEqualTo(hash(2));
    assertThat(put(session(3, "alice"), hash(3), 200 << 20)).isTrue();
  }

  @Test
  void namesWithoutASessionMakeRoomForOthers() {
    for (int i = 0; i < 5; i++) {
      ServedSession one = session(i, "name" + i);
      cache.known(one);
      put(one, HASH, 200 << 20);
      if (i < 2) {
        cache.drop(one);
      }
    }
    cache.known(session);
    assertThat(put(session, HASH, 200 << 20)).isTrue();
    assertThat(cache.find(session(10, "name0"), HASH)).isNegative();
    assertThat(cache.find(session(11, "name1"), HASH)).isNotNegative();
  }

  @Test
  void nothingIsLeftOfARevokedName() {
    cache.known(session);
    put(session, HASH, 1000);
    ServedSession other = session(2, "bob");
    cache.known(other);
    put(other, HASH, 1000);
    cache.retain("bob"::equals);
    assertThat(cache.find(session, HASH)).isNegative();
    assertThat(cache.known(session(3, "alice"))).isEqualTo(Bytes.NONE);
    assertThat(cache.find(other, HASH)).isNotNegative();
  }
}
