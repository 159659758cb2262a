package graft.remoting.server.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the server reads from a page into which a compromised worker writes. */
final class LeasePageTest {
  private final AtomicLong clock = new AtomicLong(7);
  private LeasePage page;
  private long words;

  @BeforeEach
  void open() throws IOException {
    page = LeasePage.create(clock::get);
    words =
        Libc.mmap(
            0, LeasePage.BYTES, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, page.fd(), 0);
    assertThat(words).isNotEqualTo(-1);
    clock.addAndGet(1000);
  }

  @AfterEach
  void close() {
    page.close();
    Libc.munmap(words, LeasePage.BYTES);
  }

  private void write(long used, long copiedTo, long copiedFrom) {
    Memory.putLong(words + LeasePage.USED, used);
    Memory.putLong(words + LeasePage.COPIED_TO_DEVICE, copiedTo);
    Memory.putLong(words + LeasePage.COPIED_FROM_DEVICE, copiedFrom);
  }

  private void assertTime(long used, long copiedTo, long copiedFrom) {
    assertThat(page.gpuTime()).isEqualTo(new LeasePage.GpuTime(used, copiedTo, copiedFrom));
  }

  @Test
  void whatAnHonestWorkerWritesIsRead() {
    write(600, 200, 300);
    assertTime(600, 200, 300);
    page.close();
    assertTime(600, 200, 300);
  }

  @Test
  void aWorkerThatDoesNotCountCopiesHasNone() {
    write(600, 0, 0);
    assertTime(600, 0, 0);
  }

  @Test
  void noTimeIsLongerThanTheSessionAndThePartsAreNoMoreThanTheWhole() {
    write(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
    assertTime(1000, 1000, 0);
    clock.addAndGet(500);
    write(Long.MAX_VALUE, 0, Long.MAX_VALUE);
    assertTime(1500, 1000, 500);
  }

  @Test
  void noTimeIsNegativeOrFalls() {
    write(Long.MIN_VALUE, Long.MIN_VALUE, -1);
    assertTime(0, 0, 0);
    write(600, 200, 300);
    assertTime(600, 200, 300);
    write(-1, Long.MIN_VALUE, 0);
    assertTime(600, 200, 300);
  }

  @Test
  void partsThatAreWrittenWhileTheyAreReadCountWithTheNextReading() {
    write(100, 150, 0);
    assertTime(100, 100, 0);
    write(150, 150, 0);
    assertTime(150, 150, 0);
  }

  @Test
  void whateverIsWrittenThePartsFit() {
    Random random = new Random(27);
    LeasePage.GpuTime before = page.gpuTime();
    for (int i = 0; i < 10_000; i++) {
      clock.addAndGet(random.nextInt(100));
      write(any(random), any(random), any(random));
      LeasePage.GpuTime now = page.gpuTime();
      assertThat(now.used()).isBetween(before.used(), clock.get());
      assertThat(now.copiedTo()).isGreaterThanOrEqualTo(before.copiedTo());
      assertThat(now.copiedFrom()).isGreaterThanOrEqualTo(before.copiedFrom());
      assertThat(now.copiedTo() + now.copiedFrom()).isBetween(0L, now.used());
      before = now;
    }
    assertThat(before.copiedTo()).isPositive();
    assertThat(before.copiedFrom()).isPositive();
  }

  private long any(Random random) {
    return random.nextInt(4) == 0 ? random.nextLong() : random.nextLong(2 * clock.get());
  }
}
