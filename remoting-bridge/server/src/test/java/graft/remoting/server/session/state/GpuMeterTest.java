package graft.remoting.server.session.state;

import static graft.remoting.server.exchange.GpuEngine.COMPUTE;
import static graft.remoting.server.exchange.GpuEngine.COPY_FROM_DEVICE;
import static graft.remoting.server.exchange.GpuEngine.COPY_TO_DEVICE;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.exchange.GpuEngine;
import graft.remoting.server.exchange.LeasePage;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * What the meter measures and queues, on a device whose work ends when a test says so, by a clock
 * that a test moves.
 */
final class GpuMeterTest extends GpuMeterFixture {

  /** GpuMeter waits no longer for markers before it queues more. */
  private static final long LONGEST_WAIT = 10_000_000;

  private void launch(long stream) {
    queue(GpuEngine.COMPUTE, stream);
  }

  private void queue(GpuEngine engine, long stream) {
    meter.beginCall(context, engine);
    device.queue(stream);
    meter.endCall(stream);
  }

  @Test
  void workThatTheSessionWaitsForNeedsNoMarkerAndEndsWithItsWait() {
    launch(STREAM);
    clock.set(1000);
    device.finish(STREAM);
    meter.finished(context, STREAM);
    clock.set(6000);
    meter.mark();
    assertThat(page.used()).isEqualTo(1000);
    assertThat(page.isRunning()).isFalse();
    assertThat(device.records()).isZero();
  }

  @Test
  void workThatNobodyWaitsForIsMeasuredByAMarker() {
    launch(STREAM);
    launch(STREAM);
    meter.mark();
    assertThat(device.records()).isEqualTo(1);
    clock.set(2000);
    assertThat(page.isRunning()).isTrue();
    device.finish(STREAM);
    await(() -> !page.isRunning());
    assertThat(page.used()).isEqualTo(2000);
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("graft-meter"))
        .count();
  }

  @Test
  void theThreadEndsWhenItHasNothingToDoAndAnotherBegins() {
    long before = threads();
    for (int i = 0; i < 2; i++) {
      launch(STREAM);
      meter.mark();
      assertThat(threads()).isEqualTo(before + 1);
      device.finish(STREAM);
      await(() -> !page.isRunning());
      await(
          () -> {
            clock.addAndGet(20_000_000_000L);
            return threads() == before;
          });
    }
  }

  @Test
  void workInSeveralStreamsEndsWithTheLastAndCountsOnce() {
    launch(STREAM);
    launch(OTHER);
    meter.mark();
    clock.set(1000);
    device.finish(STREAM);
    clock.set(3000);
    assertThat(page.isRunning()).isTrue();
    device.finish(OTHER);
    await(() -> !page.isRunning());
    assertThat(page.used()).isEqualTo(3000);
  }

  @Test
  void aWaitForOneStreamDoesNotEndTheWorkInAnother() {
    launch(STREAM);
    launch(OTHER);
    clock.set(1000);
    device.finish(STREAM);
    meter.finished(context, STREAM);
    meter.mark();
    assertThat(page.isRunning()).isTrue();
  }

  @Test
  void pausesDoNotCount() {
    launch(STREAM);
    clock.set(100);
    meter.finishedAll(context);
    meter.mark();
    clock.set(10_000);
    launch(STREAM);
    clock.set(10_050);
    meter.finishedAll(context);
    meter.mark();
    assertThat(page.used()).isEqualTo(150);
  }

  @Test
  void withoutTheLeaseACallWaitsAndEarlierWorkGetsAMarker() throws Exception {
    launch(STREAM);
    page.revoke();
    assertThat(meter.isOutOfTurn()).isTrue();
    CompletableFuture<Void> call = CompletableFuture.runAsync(() -> launch(STREAM));
    await(
        () -> {
          // With four CPUs the call first polls for a moment for the end of its work.
          clock.addAndGet(LONGEST_WAIT);
          return page.isWaiting();
        });
    assertThat(device.records()).isEqualTo(1);
    assertThat(device.launches()).isEqualTo(1);
    assertThat(call).isNotDone();
    page.grant(LeasePage.Queueing.ANY);
    lease.granted();
    call.get();
    assertThat(device.launches()).isEqualTo(2);
  }

  @Test
  void whileOthersWantTheDeviceLittleIsQueuedAheadButNotForEver() throws Exception {
    page.grant(LeasePage.Queueing.LITTLE);
    CompletableFuture<Void> calls =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 4; i++) {
                launch(STREAM);
              }
            });
    await(() -> device.records() == 3);
    assertThat(device.launches()).as("the fourth call waits").isEqualTo(3);
    assertThat(calls).isNotDone();
    while (!calls.isDone()) {
      clock.addAndGet(LONGEST_WAIT); // as the work may wait for what the program queues next
    }
    calls.get();
    assertThat(device.launches()).isEqualTo(4);
  }

  @Test
  void theCallGoesOnWhenTheWorkAheadHasFinished() throws Exception {
    page.grant(LeasePage.Queueing.LITTLE);
    for (int i = 0; i < 3; i++) {
      launch(STREAM);
    }
    CompletableFuture<Void> call = CompletableFuture.runAsync(() -> launch(STREAM));
    await(() -> device.records() == 3);
    device.finish(STREAM);
    call.get();
    assertThat(clock).hasValue(0);
  }

  @Test
  void shortCallsShareAMarker() {
    page.grant(LeasePage.Queueing.LITTLE);
    device.isInstant = true;
    for (int i = 0; i < 256; i++) {
      launch(STREAM);
    }
    assertThat(device.records()).isBetween(2, 16);
  }

  @Test
  void aStreamThatIsCapturedGetsNoMarker() {
    device.captured = STREAM;
    launch(STREAM);
    clock.set(500);
    meter.mark();
    assertThat(device.records()).isZero();
    assertThat(page.isRunning()).isFalse();
  }

  @Test
  void streamsAreMarkedOnlyWhenThereAreVeryMany() {
    for (long stream = STREAM; stream < STREAM + 63; stream++) {
      launch(stream);
    }
    assertThat(device.records()).isZero();
    launch(STREAM + 63);
    assertThat(device.records()).isEqualTo(64);
  }

  @Test
  void workIsMarkedAfterManyCallsThatQueueNone() {
    meter.otherCall();
    launch(STREAM);
    for (int i = 0; i < 31; i++) {
      meter.otherCall();
    }
    assertThat(device.records()).isZero();
    meter.otherCall();
    assertThat(device.records()).isEqualTo(1);
  }

  @Test
  void aDestroyedContextTakesItsWorkWithIt() {
    launch(STREAM);
    meter.mark();
    launch(STREAM);
    clock.set(700);
    meter.forget(context);
    assertThat(page.isRunning()).isFalse();
    assertThat(page.used()).isEqualTo(700);
  }

  @Test
  void markersOfADestroyedStreamAreStillWaitedFor() {
    launch(STREAM);
    meter.mark();
    meter.forget(STREAM);
    clock.set(900);
    device.finish(STREAM);
    await(() -> !page.isRunning());
    assertThat(page.used()).isEqualTo(900);
  }

  /** Queues work of these engines at once, which then takes so long. */
  private void work(long nanos, GpuEngine... engines) {
    for (GpuEngine engine : engines) {
      queue(engine, STREAM);
    }
    clock.addAndGet(nanos);
    device.finish(STREAM);
    meter.finished(context, STREAM);
    meter.mark();
  }

  private void assertTime(long used, long copiedTo, long copiedFrom) {
    assertThat(page.gpuTime()).isEqualTo(new LeasePage.GpuTime(used, copiedTo, copiedFrom));
  }

  @Test
  void whatOnlyCopiesCountsForTheDirection() {
    work(1000, COPY_TO_DEVICE, COPY_TO_DEVICE);
    assertTime(1000, 1000, 0);
    work(200, COPY_FROM_DEVICE);
    assertTime(1200, 1000, 200);
    work(30, COMPUTE);
    assertTime(1230, 1000, 200);
    work(4, COPY_TO_DEVICE);
    assertTime(1234, 1004, 200);
    work(5, COPY_TO_DEVICE);
    assertTime(1239, 1009, 200);
  }

  @Test
  void whatIsQueuedTogetherCountsForNoDirection() {
    work(10, COPY_TO_DEVICE, COPY_FROM_DEVICE);
    work(10, COPY_TO_DEVICE, COMPUTE);
    work(10, COMPUTE, COPY_FROM_DEVICE);
    assertTime(30, 0, 0);
  }

  @Test
  void copiesCountForTheirDirectionUntilAKernelIsQueued() {
    queue(COPY_TO_DEVICE, STREAM);
    clock.set(300);
    work(700, COMPUTE);
    assertTime(1000, 300, 0);
  }

  @Test
  void aWaitSeparatesWhatIsQueuedBeforeItFromWhatIsQueuedAfterIt() {
    launch(STREAM);
    clock.set(400);
    meter.finished(context, STREAM);
    clock.set(450);
    queue(COPY_FROM_DEVICE, STREAM);
    clock.set(600);
    meter.finished(context, STREAM);
    queue(COPY_FROM_DEVICE, STREAM);
    clock.set(700);
    meter.finished(context, STREAM);
    work(300, COMPUTE);
    assertTime(1000, 0, 300);
  }

  @Test
  void copiesInAStreamCountAloneWhenTheKernelInAnotherHasFinished() {
    launch(STREAM);
    queue(COPY_TO_DEVICE, OTHER);
    meter.mark();
    clock.set(1000);
    device.finish(STREAM);
    await(() -> page.used() == 1000);
    clock.set(3000);
    device.finish(OTHER);
    await(() -> !page.isRunning());
    assertTime(3000, 2000, 0);
  }

  @Test
  void aCopyBehindAKernelHasAMarkerOfItsOwn() {
    launch(STREAM);
    meter.mark();
    queue(COPY_FROM_DEVICE, STREAM);
    meter.mark();
    clock.set(500);
    device.finish(STREAM, 1);
    await(() -> page.used() == 500);
    clock.set(900);
    device.finish(STREAM);
    await(() -> !page.isRunning());
    assertTime(900, 0, 400);
  }

  @Test
  void aKernelAfterATurnIsNotPartOfTheCopyThatGoesOnSinceThen() throws Exception {
    queue(COPY_TO_DEVICE, OTHER);
    page.revoke();
    CompletableFuture<Void> call = CompletableFuture.runAsync(() -> launch(STREAM));
    while (!page.isWaiting()) {
      clock.addAndGet(1000); // the call polls for a moment by this clock
    }
    long next = clock.get();
    page.grant(LeasePage.Queueing.ANY);
    lease.granted();
    call.get();
    clock.addAndGet(700);
    device.finish(OTHER);
    device.finish(STREAM);
    meter.mark();
    await(() -> !page.isRunning());
    assertTime(next + 700, next, 0);
  }
}
