package graft.remoting.server.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.system.SealedMemory;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a guest's sessions read of each other's work on the GPU. */
final class GuestActivityTest {
  private static final long PERIOD = GuestActivity.PERIOD_NANOS;
  private static final int LAST = GuestActivity.PERIODS - 1;
  private static final long START = 1_000 * PERIOD;

  private final AtomicLong clock = new AtomicLong(START);
  private SealedMemory file;
  private GuestActivity first;
  private GuestActivity second;

  @BeforeEach
  void map() throws IOException {
    file = SealedMemory.create("test", 2L * GuestUse.SLOT);
    first = activity(0);
    second = activity(1);
  }

  @AfterEach
  void close() {
    file.close();
  }

  private GuestActivity activity(int slot) throws IOException {
    return GuestUse.map(file.fd(), 2, slot, SessionLimits.NONE, clock::get).activity();
  }

  private List<Long> busy(GuestActivity reader, int slot) {
    return reader.read().sessions().get(slot).busy();
  }

  private static long sum(List<Long> busy) {
    return busy.stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void workIsCountedInThePeriodsThatItLiesIn() throws IOException {
    first.began(START - PERIOD - 30);
    first.ended(START + 20);
    first.began(START + 40);
    first.ended(START + 50);
    clock.set(START + 60);
    List<Long> busy = busy(second, 0);
    assertThat(busy.get(LAST - 2)).isEqualTo(30);
    assertThat(busy.get(LAST - 1)).isEqualTo(PERIOD);
    assertThat(busy.get(LAST)).isEqualTo(30);
    assertThat(sum(busy)).isEqualTo(PERIOD + 60);
    assertThat(sum(busy(second, 1))).isZero();
  }

  @Test
  void workThatRunsIsCountedUpToNow() {
    first.began(START - 100 * PERIOD);
    clock.set(START + 7);
    List<Long> busy = busy(second, 0);
    assertThat(busy.get(0)).isEqualTo(PERIOD);
    assertThat(busy.get(LAST)).isEqualTo(7);
  }

  @Test
  void workOfLongAgoIsForgotten() {
    first.began(START);
    first.ended(START + PERIOD);
    clock.set(START + GuestActivity.PERIODS * PERIOD);
    assertThat(busy(second, 0).get(0)).isZero();
    clock.set(START + 2 * GuestActivity.PERIODS * PERIOD);
    assertThat(sum(busy(second, 0))).isZero();
  }

  @Test
  void eachSessionHasItsProcess() {
    first.serves(4_000_000_000L);
    assertThat(second.read().sessions())
        .extracting(GuestActivity.Session::process)
        .containsExactly(4_000_000_000L, 0L);
  }

  @Test
  void aCompromisedWorkerCannotClaimMoreThanAPeriodHas() {
    for (long nonsense :
        new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1, (START << 28) | 0xfffffff}) {
      for (int word = 0; word < GuestUse.SLOT / Long.BYTES; word++) {
        Memory.putLong(file.address() + (long) Long.BYTES * word, nonsense);
      }
      GuestActivity.Session read = second.read().sessions().get(0);
      assertThat(read.process()).isBetween(0L, 0xffffffffL);
      for (long nanos : read.busy()) {
        assertThat(nanos).isBetween(0L, PERIOD);
      }
    }
  }
}
