package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.pool.SmallRegions.SmallRegion;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.transport.Region;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Which guests' regions were too small, and by how much. */
final class SmallRegionsTest {
  private static final long MIB = 1 << 20;
  private static final Instant EARLY = Instant.parse("2026-01-02T03:04:05Z");
  private static final Instant LATE = EARLY.plusSeconds(60);

  private final SmallRegions regions = new SmallRegions();
  private long ids;

  private ServedSession session(String guest) {
    return new ServedSession(
        ++ids,
        Bytes.of(new byte[32]),
        new ServedSession.Client(guest, "peer", "ivshmem", "", SessionLimits.NONE),
        DeviceSpec.parse("software"),
        LeasePage.none());
  }

  private void lacks(ServedSession session, long region, long lacked, Instant at) {
    regions.note(session, new ControlMessage.RegionUse(region, lacked), at);
  }

  @Test
  void aGuestWhoseRegionHasRoomIsNotNamed() {
    lacks(session("alice"), 128 * MIB, 0, EARLY);
    assertThat(regions.all()).isEmpty();
  }

  @Test
  void whatSessionsOfOneGuestLackAtATimeIsSummed() {
    ServedSession one = session("alice");
    lacks(one, 128 * MIB, 100 * MIB, EARLY);
    lacks(session("alice"), 128 * MIB, 50 * MIB, LATE);
    lacks(session("bob"), 64 * MIB, MIB, LATE);
    assertThat(regions.all())
        .containsExactly(
            new SmallRegion("alice", 128 * MIB, 150 * MIB, LATE),
            new SmallRegion("bob", 64 * MIB, MIB, LATE));
  }

  @Test
  void theMostIsRememberedWhenTheSessionsHaveEnded() {
    ServedSession one = session("alice");
    lacks(one, 128 * MIB, 100 * MIB, EARLY);
    regions.ended(one);
    lacks(session("alice"), 128 * MIB, 60 * MIB, LATE);
    assertThat(regions.all())
        .containsExactly(new SmallRegion("alice", 128 * MIB, 100 * MIB, EARLY));
  }

  @Test
  void aGuestThatComesWithALargerRegionIsForgotten() {
    ServedSession one = session("alice");
    lacks(one, 128 * MIB, 100 * MIB, EARLY);
    regions.ended(one);
    lacks(session("alice"), 512 * MIB, 0, LATE);
    assertThat(regions.all()).isEmpty();
  }

  @Test
  void guestsThatSayAnythingTakeNoMoreThanTheirPlace() {
    for (int i = 0; i < 2 * SmallRegions.MOST_GUESTS; i++) {
      String guest = "guest-" + i;
      lacks(session(guest), MIB, Long.MAX_VALUE, EARLY);
      lacks(session(guest), MIB, Long.MAX_VALUE, EARLY);
    }
    assertThat(regions.all())
        .hasSize(SmallRegions.MOST_GUESTS)
        .allMatch(small -> small.lacked() == 2 * Region.MOST_LACKED);
  }
}
