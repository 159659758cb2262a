package graft.remoting.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a worker gives the memory of its warm-up back. */
final class IdleMemoryTest {
  private final Semaphore given = new Semaphore(0);

  @Test
  void aWorkerThatStillWaitsGivesItBackOnce() throws InterruptedException {
    IdleMemory memory = new IdleMemory(1, given::release);
    memory.begin();
    assertThat(given.tryAcquire(1, TimeUnit.MINUTES)).isTrue();
    memory.end();
    assertThat(given.tryAcquire()).isFalse();
  }

  @Test
  void aWorkerThatHasItsClientKeepsIt() throws InterruptedException {
    IdleMemory memory = new IdleMemory(300, given::release);
    memory.begin();
    memory.end();
    assertThat(given.tryAcquire(1, TimeUnit.SECONDS)).isFalse();
  }
}
