package graft.remoting.server.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a session's page says while the session works and waits. */
@Timeout(60)
final class GpuLeaseTest {
  @Test
  void workIsCountedWhileItRuns() throws Exception {
    AtomicLong clock = new AtomicLong();
    try (LeasePage page = LeasePage.create(clock::get)) {
      page.grant(LeasePage.Queueing.ANY);
      GpuLease lease = GpuLease.map(page.fd(), clock::get);
      lease.begin();
      clock.set(50);
      lease.measure();
      assertThat(page.used()).isEqualTo(50);
      clock.set(70);
      lease.end(60);
      assertThat(page.used()).isEqualTo(60);
      lease.measure();
      assertThat(page.used()).as("nothing runs").isEqualTo(60);
    }
  }

  @Test
  void workThatEndedBeforeItWasMeasuredIsNotSubtracted() throws Exception {
    AtomicLong clock = new AtomicLong();
    try (LeasePage page = LeasePage.create(clock::get)) {
      page.grant(LeasePage.Queueing.ANY);
      GpuLease lease = GpuLease.map(page.fd(), clock::get);
      lease.begin();
      clock.set(50);
      lease.measure();
      lease.end(49);
      assertThat(page.used()).isEqualTo(50);
    }
  }

  @Test
  void copiesAreCountedWhileTheyRun() throws Exception {
    AtomicLong clock = new AtomicLong();
    try (LeasePage page = LeasePage.create(clock::get)) {
      page.grant(LeasePage.Queueing.ANY);
      GpuLease lease = GpuLease.map(page.fd(), clock::get);
      lease.count(GpuEngine.COPY_TO_DEVICE, 0); // nothing runs
      lease.begin();
      clock.set(10);
      lease.count(GpuEngine.COPY_TO_DEVICE, 10);
      clock.set(30);
      lease.measure();
      assertThat(page.gpuTime()).isEqualTo(new LeasePage.GpuTime(30, 20, 0));
      lease.count(GpuEngine.COPY_FROM_DEVICE, 25); // counted already until 30
      clock.set(70);
      lease.end(60);
      assertThat(page.gpuTime()).isEqualTo(new LeasePage.GpuTime(60, 20, 30));
    }
  }

  @Test
  void aWaitIsCountedWhileItLasts() throws Exception {
    try (LeasePage page = LeasePage.create()) {
      GpuLease lease = GpuLease.map(page.fd());
      CompletableFuture<Void> work = CompletableFuture.runAsync(lease::begin);
      long before = page.waited();
      for (int grown = 0; grown < 3; ) {
        long now = page.waited();
        grown += now > before ? 1 : 0;
        before = now;
        assertThat(Thread.interrupted()).as("the time is over").isFalse();
      }
      assertThat(page.isWaiting()).isTrue();
      page.grant(LeasePage.Queueing.ANY);
      lease.granted();
      work.join();
      assertThat(page.isWaiting()).isFalse();
      assertThat(page.waited()).isGreaterThanOrEqualTo(before);
    }
  }
}
