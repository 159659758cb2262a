package graft.remoting.server.share;

import static graft.remoting.server.share.SimulatedGpu.MICRO;
import static graft.remoting.server.share.SimulatedGpu.MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Share;
import graft.remoting.server.exchange.LeasePage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which sessions the watchdog names, and when, under a virtual clock. */
class WatchdogTest {
  private static final long SECOND = 1000 * MILLI;
  private static final long LIMIT = 30 * SECOND;
  private static final long ENDLESS = 1_000_000 * SECOND;

  /** The end of a turn, and the pauses between two looks at the sessions. */
  private static final long SOON = 100 * MILLI;

  private final SimulatedGpu gpu = new SimulatedGpu(LIMIT);

  @Test
  void endlessWorkEndsWhenItHasKeptAnotherGuestForTheLimit() {
    SimulatedGpu.Session endless = gpu.busy("a", Share.DEFAULT, ENDLESS);
    SimulatedGpu.Session other = gpu.busy("b", Share.DEFAULT, MILLI);
    gpu.run(LIMIT);
    assertThat(endless.endedAt()).isZero();
    gpu.run(SOON);
    assertThat(endless.endedAt()).isBetween(LIMIT, LIMIT + SOON);
    assertThat(other.endedAt()).isZero();
    long before = other.used();
    gpu.run(10 * SECOND);
    assertThat(other.used() - before).isGreaterThan(9 * SECOND);
  }

  @Test
  void nobodyMindsEndlessWorkAsLongAsNobodyElseWantsTheGpu() {
    SimulatedGpu.Session endless = gpu.busy("a", Share.DEFAULT, ENDLESS);
    gpu.run(10 * LIMIT);
    assertThat(endless.endedAt()).isZero();
    gpu.busy("b", Share.DEFAULT, MILLI);
    gpu.run(LIMIT);
    assertThat(endless.endedAt()).isZero();
    gpu.run(SOON);
    assertThat(endless.endedAt()).isNotZero();
  }

  @Test
  void workThatEndsWithinTheLimitGoesOnForEver() {
    SimulatedGpu.Session slow = gpu.busy("a", Share.DEFAULT, LIMIT - SECOND);
    SimulatedGpu.Session quick = gpu.busy("b", Share.DEFAULT, 50 * MICRO);
    gpu.run(10 * LIMIT);
    assertThat(slow.endedAt()).isZero();
    assertThat(quick.endedAt()).isZero();
    assertThat(slow.used()).isGreaterThan(2 * LIMIT);
  }

  @Test
  void timesWithoutAnotherGuestDoNotCount() {
    SimulatedGpu.Session endless = gpu.busy("a", Share.DEFAULT, ENDLESS);
    // Wants the GPU for some 1 ms of every 10 ms.
    gpu.session("b", Share.DEFAULT, () -> MILLI, () -> 9 * MILLI);
    gpu.run(2 * LIMIT);
    assertThat(endless.endedAt()).isZero();
    gpu.run(20 * LIMIT);
    assertThat(endless.endedAt()).isNotZero();
  }

  @Test
  void withoutAWatchdogNothingEnds() {
    SimulatedGpu without = new SimulatedGpu();
    SimulatedGpu.Session endless = without.busy("a", Share.DEFAULT, ENDLESS);
    without.busy("b", Share.DEFAULT, MILLI);
    without.run(20 * LIMIT);
    assertThat(endless.endedAt()).isZero();
  }

  @Test
  void ofTwoGuestsWithEndlessWorkOneEnds() {
    SimulatedGpu.Session first = gpu.busy("a", Share.DEFAULT, ENDLESS);
    SimulatedGpu.Session second = gpu.busy("b", Share.DEFAULT, ENDLESS);
    gpu.run(10 * LIMIT);
    assertThat(first.endedAt()).isBetween(LIMIT, LIMIT + SOON);
    assertThat(second.endedAt()).isZero(); // nobody else is left who wants the GPU
  }

  @Test
  void aBestEffortGuestThatWaitsEndsNobody() {
    Share bestEffort = new Share(Share.Type.BEST_EFFORT, 0, Share.Priority.NORMAL);
    SimulatedGpu.Session endless = gpu.busy("a", Share.DEFAULT, ENDLESS);
    gpu.busy("b", bestEffort, MILLI);
    gpu.run(10 * LIMIT);
    assertThat(endless.endedAt()).isZero();
  }

  @Test
  void manySessionsGainNothingAndCostTheirNeighboursNothing() {
    List<SimulatedGpu.Session> endless = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      endless.add(gpu.busy("crowd", Share.DEFAULT, ENDLESS));
    }
    SimulatedGpu.Session good = gpu.busy("crowd", Share.DEFAULT, MILLI);
    SimulatedGpu.Session other = gpu.busy("b", Share.DEFAULT, MILLI);
    gpu.run(LIMIT + SOON);
    assertThat(endless)
        .allSatisfy(session -> assertThat(session.endedAt()).isBetween(LIMIT, LIMIT + SOON));
    assertThat(good.endedAt()).isZero();
    assertThat(other.endedAt()).isZero();
  }

  /** Queues more behind work that never ends: has a turn now and then, and always runs. */
  @Test
  void queueingMoreDoesNotPutOffTheEnd() {
    Unending hostile = new Unending();
    gpu.add("a", Share.DEFAULT, hostile);
    gpu.busy("b", Share.DEFAULT, MILLI);
    gpu.run(LIMIT / 2);
    assertThat(hostile.turns).isGreaterThan(5);
    assertThat(hostile.expired).isZero();
    gpu.run(LIMIT / 2 + SOON);
    assertThat(hostile.expired).isEqualTo(1);
    gpu.run(LIMIT);
    assertThat(hostile.expired).isEqualTo(1); // once is enough, whatever its worker goes on to say
  }

  @Test
  void timeWithoutTurnsIsNoOverrun() {
    SimulatedGpu.Session endless = gpu.busy("a", Share.DEFAULT, ENDLESS);
    gpu.busy("b", Share.DEFAULT, MILLI);
    gpu.run(LIMIT - SECOND);
    gpu.activate(false); // the shares are removed
    gpu.run(LIMIT);
    gpu.activate(true);
    gpu.run(LIMIT - SECOND);
    assertThat(endless.endedAt()).isZero();
    gpu.run(2 * SECOND);
    assertThat(endless.endedAt()).isNotZero();
  }

  /** A session whose work never ends, and that always asks for more. */
  private static final class Unending implements Lease {
    private int turns;
    private int expired;
    private final Watchdog watchdog = new Watchdog(LIMIT, () -> expired++);

    @Override
    public void grant(LeasePage.Queueing queueing) {
      turns++;
    }

    @Override
    public void announce() {}

    @Override
    public void revoke() {}

    @Override
    public boolean isBusy() {
      return true;
    }

    @Override
    public boolean isWaiting() {
      return true;
    }

    @Override
    public Watchdog watchdog() {
      return watchdog;
    }
  }
}
