package graft.remoting.server.share;

import static graft.remoting.server.share.SimulatedGpu.MICRO;
import static graft.remoting.server.share.SimulatedGpu.MILLI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import graft.common.grants.Share;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Shares of GPU time under a virtual clock: what guests ask for and what they get. */
class SharesTest {
  private static final long SECOND = 1000 * MILLI;
  private static final Share BEST_EFFORT =
      new Share(Share.Type.BEST_EFFORT, 0, Share.Priority.NORMAL);
  private final SimulatedGpu gpu = new SimulatedGpu();

  private static Share guaranteed(int percent) {
    return new Share(Share.Type.GUARANTEED, percent, Share.Priority.NORMAL);
  }

  private static Share burstable(int percent) {
    return new Share(Share.Type.BURSTABLE, percent, Share.Priority.NORMAL);
  }

  /** Checks that each guest got its share within one point and within 5% of the share. */
  private void assertShares(Map<String, Integer> shares) {
    shares.forEach(
        (guest, share) ->
            assertThat(gpu.percent(guest))
                .as("share of %s", guest)
                .isCloseTo(share, within(Math.min(1, 0.05 * share))));
  }

  /** 10 s, or 200 turns of each guest with kernels of that length, whichever is longer. */
  private static long duration(long kernel, int guests) {
    return Math.max(10 * SECOND, 200L * guests * Math.max(kernel, FairQueue.TURN));
  }

  @ParameterizedTest
  @CsvSource({"10-90", "25-75", "50-25-25", "5-15-30-50"})
  void sharesHoldForKernelsOfEveryLength(String shares) {
    for (long kernel : List.of(5 * MICRO, 100 * MICRO, 5 * MILLI, 50 * MILLI)) {
      SimulatedGpu fresh = new SimulatedGpu();
      Map<String, Integer> wanted = new LinkedHashMap<>();
      for (String share : shares.split("-", -1)) {
        String guest = "guest" + wanted.size();
        wanted.put(guest, Integer.parseInt(share));
        fresh.busy(guest, guaranteed(Integer.parseInt(share)), kernel);
      }
      fresh.run(duration(kernel, wanted.size()));
      wanted.forEach(
          (guest, share) ->
              assertThat(fresh.percent(guest))
                  .as("share of %s with kernels of %d ns", guest, kernel)
                  .isCloseTo(share, within(Math.min(1, 0.05 * share))));
    }
  }

  @ParameterizedTest
  @CsvSource({"50,50000", "50000,50", "50,5000", "5000,50"})
  void sharesHoldBetweenShortAndLongKernels(long micros, long otherMicros) {
    gpu.busy("few", guaranteed(10), micros * MICRO);
    gpu.busy("many", guaranteed(90), otherMicros * MICRO);
    gpu.run(60 * SECOND);
    assertShares(Map.of("few", 10, "many", 90));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8, 16, 64})
  void equalGuestsGetTheSame(int guests) {
    List<SimulatedGpu.Session> sessions = new ArrayList<>();
    for (int i = 0; i < guests; i++) {
      sessions.add(gpu.busy("guest" + i, Share.DEFAULT, 100 * MICRO));
    }
    gpu.run(duration(100 * MICRO, guests));
    assertThat(gpu.jain()).isGreaterThan(0.999);
    long round = guests * (FairQueue.TURN + MILLI);
    assertThat(sessions).allSatisfy(s -> assertThat(s.longestWait()).isLessThan(2 * round));
    assertThat(gpu.load()).isGreaterThan(0.93);
  }

  @Test
  void aGuestAloneHasTheWholeGpu() {
    gpu.busy("alone", guaranteed(10), 5 * MICRO);
    gpu.session("asleep", guaranteed(90), () -> MICRO, () -> 100 * SECOND);
    gpu.run(10 * SECOND);
    assertThat(gpu.load()).isGreaterThan(0.999);
  }

  /** A guest that waits has no work for a moment, in which the other one has a kernel at least. */
  @ParameterizedTest
  @CsvSource({
    "10,3600,3600,74",
    "100,360,3600,74",
    "1,5000,500,70",
    "50,100,100,70",
    "1,5000,5000,49"
  })
  void aGuestThatWaitsAfterEachRoundGetsItsShareIfRoundsAreLong(
      int kernels, long micros, long otherMicros, double least) {
    int[] queued = {0};
    gpu.session(
        "waits",
        guaranteed(75),
        () -> micros * MICRO,
        () -> ++queued[0] % kernels == 0 ? 400 * MICRO : 0);
    gpu.busy("busy", guaranteed(25), otherMicros * MICRO);
    gpu.run(20 * SECOND);
    assertThat(gpu.percent("waits")).isBetween(least, 76.0);
  }

  @Test
  void manySessionsOfAGuestGetNoMoreThanOne() {
    for (int i = 0; i < 20; i++) {
      gpu.busy("crowd", guaranteed(25), MILLI / 20);
    }
    gpu.busy("one", guaranteed(75), MILLI);
    gpu.run(20 * SECOND);
    // The twenty sessions run at once here, so that only their turns can be compared.
    assertThat(gpu.used("crowd") / 20.0 / gpu.used("one")).isCloseTo(25 / 75.0, within(.02));
  }

  @Test
  void aGiantGraphIsPaidForLater() {
    gpu.busy("graphs", guaranteed(20), 2 * SECOND);
    gpu.busy("steps", guaranteed(80), MILLI);
    gpu.run(600 * SECOND);
    assertShares(Map.of("graphs", 20, "steps", 80));
  }

  @Test
  void sleepingAndThenRunningAtOnceGainsNothing() {
    Random random = new Random(3);
    gpu.session(
        "sleeper", guaranteed(30), () -> 3 * MILLI, () -> random.nextInt(4) == 0 ? 40 * MILLI : 0);
    gpu.busy("steady", guaranteed(70), 100 * MICRO);
    gpu.run(30 * SECOND);
    assertThat(gpu.percent("sleeper")).isLessThan(31);
  }

  @Test
  void whatIsLeftIsDividedAmongTheOthers() {
    gpu.busy("a", guaranteed(50), 100 * MICRO);
    gpu.busy("b", burstable(40), 100 * MICRO);
    gpu.busy("c", burstable(60), 100 * MICRO);
    gpu.run(10 * SECOND);
    assertShares(Map.of("a", 50, "b", 20, "c", 30));
  }

  /** Guests of several servers, each of which knows its own guests only. */
  @Test
  void guaranteedSharesAbove100GetSmallerInProportion() {
    gpu.busy("a", guaranteed(90), 50 * MICRO);
    gpu.busy("b", guaranteed(60), 50 * MICRO);
    gpu.run(10 * SECOND);
    assertShares(Map.of("a", 60, "b", 40));
  }

  @Test
  void bestEffortRunsOnlyWhenNobodyElseWantsTheGpu() {
    gpu.busy("batch", BEST_EFFORT, 50 * MICRO);
    gpu.busy("busy", guaranteed(10), 50 * MICRO);
    gpu.run(10 * SECOND);
    assertThat(gpu.percent("batch")).isLessThan(0.1);
  }

  @Test
  void bestEffortGuestsDivideTheRestEqually() {
    gpu.busy("batch", BEST_EFFORT, 50 * MICRO);
    gpu.busy("other", BEST_EFFORT, 5 * MILLI);
    gpu.session("service", guaranteed(50), () -> MILLI, () -> 20 * MILLI);
    gpu.run(30 * SECOND);
    double ratio = gpu.used("batch") / (double) gpu.used("other");
    assertThat(ratio).isCloseTo(1, within(.05));
  }

  @Test
  void requestsInterruptBestEffortWork() {
    gpu.busy("batch", BEST_EFFORT, 50 * MICRO);
    SimulatedGpu.Session requests =
        gpu.session("service", guaranteed(50), () -> MILLI / 2, () -> 10 * MILLI);
    gpu.run(20 * SECOND);
    assertThat(requests.latency99()).isLessThan(MILLI);
  }

  @Test
  void highPriorityIsServedFirstWithinItsShare() {
    Share high = new Share(Share.Type.GUARANTEED, 20, Share.Priority.HIGH);
    gpu.busy("a", guaranteed(40), 50 * MICRO);
    gpu.busy("b", guaranteed(40), 50 * MICRO);
    SimulatedGpu.Session requests = gpu.session("high", high, () -> MILLI / 2, () -> 10 * MILLI);
    gpu.run(20 * SECOND);
    assertThat(requests.latency99()).isLessThan(MILLI);
  }

  @Test
  void highPriorityDoesNotEnlargeAShare() {
    gpu.busy("high", new Share(Share.Type.GUARANTEED, 20, Share.Priority.HIGH), 50 * MICRO);
    gpu.busy("normal", guaranteed(80), 50 * MICRO);
    gpu.run(20 * SECOND);
    assertShares(Map.of("high", 20, "normal", 80));
  }

  @Test
  void changedSharesApplyAtOnce() {
    gpu.busy("a", guaranteed(90), 100 * MICRO);
    gpu.busy("b", guaranteed(10), 100 * MICRO);
    gpu.run(10 * SECOND);
    long before = gpu.used("b");
    gpu.change(Map.of("a", guaranteed(10), "b", guaranteed(90)));
    gpu.run(10 * SECOND);
    assertThat((gpu.used("b") - before) / (10.0 * SECOND)).isGreaterThan(0.83);
  }
}
