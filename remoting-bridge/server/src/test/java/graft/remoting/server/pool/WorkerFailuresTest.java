package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.audit.AuditLog;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a server does while its workers cannot start. */
@Timeout(120)
class WorkerFailuresTest {
  private static final WorkerKind PLAIN = new WorkerKind(DeviceSpec.parse("gpu"), false);
  private static final WorkerKind RDMA = new WorkerKind(DeviceSpec.parse("gpu"), true);

  @TempDir Path folder;
  private final AtomicLong now = new AtomicLong();
  private final WorkerFailures failures = new WorkerFailures(now::get);

  private WorkerPool pool(WorkerStarter starter, int spares) throws Exception {
    return new WorkerPool(
        starter,
        folder.resolve("socket"),
        new WorkerPool.Spares(PLAIN, spares),
        new ServerMetrics(),
        new ServerAudit(AuditLog.none(), AuditLog.none()),
        0,
        failures);
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void theNextStartWaitsTwiceAsLongAfterEachFailureUpToHalfAMinute() {
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      failures.failed(PLAIN, "no GPU");
      long before = now.get();
      while (failures.obstacle(PLAIN).isPresent()) {
        pass(Duration.ofMillis(500));
      }
      pauses.add((now.get() - before) / 1_000_000_000);
    }
    assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
    failures.succeeded(PLAIN);
    failures.failed(PLAIN, "no GPU");
    assertThat(failures.obstacle(PLAIN)).contains("no GPU; the server tries again in 1 s");
  }

  @Test
  void aKindThatFailsHoldsUpNoOther() {
    failures.failed(RDMA, "no libucp");
    assertThat(failures.obstacle(RDMA)).isPresent();
    assertThat(failures.obstacle(PLAIN)).isEmpty();
    assertThat(failures.isFailing(PLAIN)).isFalse();
  }

  /** A starter without a program to start. */
  private static final class BrokenStarter implements WorkerStarter {
    private int attempts;

    @Override
    public Isolation isolation() {
      throw new UnsupportedOperationException();
    }

    @Override
    public WorkerProcess start(WorkerKind kind) throws IOException {
      attempts++;
      throw new IOException("libcuda.so.1 is not there");
    }

    @Override
    public void serves() {}

    @Override
    public void close() {}
  }

  @Test
  void clientsThatTryAgainStartNoFurtherWorkerBeforeItsTime() throws Exception {
    BrokenStarter starter = new BrokenStarter();
    try (WorkerPool pool = pool(starter, 2)) {
      assertThatThrownBy(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)))
          .isInstanceOf(ServerException.class)
          .hasMessage("cannot start a worker: libcuda.so.1 is not there");
      for (int i = 0; i < 100; i++) {
        assertThatThrownBy(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)))
            .hasMessage(
                "cannot start a worker: libcuda.so.1 is not there; the server tries again in 1 s");
      }
      assertThat(starter.attempts).isOne();
      pass(Duration.ofSeconds(1));
      assertThatThrownBy(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)))
          .hasMessage("cannot start a worker: libcuda.so.1 is not there");
      assertThat(starter.attempts).isEqualTo(2);
      assertThatThrownBy(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)))
          .hasMessageEndingWith("the server tries again in 2 s");
      // It works again as soon as a worker is ready, whatever the row of failures was.
      failures.succeeded(PLAIN);
      assertThatThrownBy(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)));
      assertThat(starter.attempts).isGreaterThan(2);
    }
  }

  @Test
  void theNextSpareWaitsTwiceAsLongEachTimeOneEndsUpToHalfAMinute() {
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      failures.spareEnded(PLAIN, 1);
      long before = now.get();
      while (failures.holdsUpSpares(PLAIN)) {
        pass(Duration.ofMillis(500));
      }
      pauses.add((now.get() - before) / 1_000_000_000);
    }
    assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 16L, 30L, 30L);
    pass(Duration.ofSeconds(31));
    failures.spareEnded(PLAIN, 1);
    pass(Duration.ofSeconds(1));
    assertThat(failures.holdsUpSpares(PLAIN)).as("the last spare has lived").isFalse();
  }

  /** A starter of workers that are ready, and end when the test says so. */
  private static final class ReadyStarter implements WorkerStarter {
    private final List<ControlSocket> workers = new CopyOnWriteArrayList<>();

    /** Whether workers get ready by {@link #ready} alone. */
    private volatile boolean isHeld;

    @Override
    public Isolation isolation() {
      throw new UnsupportedOperationException();
    }

    @Override
    public WorkerProcess start(WorkerKind kind) throws IOException {
      List<NativeSocket> ends = NativeSocket.pair("a worker");
      workers.add(new ControlSocket(ends.get(1)));
      if (!isHeld) {
        ready(workers.size() - 1);
      }
      return new ReadyWorker(workers.size(), new ControlSocket(ends.get(0)));
    }

    void ready(int index) throws IOException {
      workers.get(index).send(new ControlMessage.Ready("gpu", ""));
    }

    void awaitStarts(int count) throws InterruptedException {
      while (workers.size() < count) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }

    void end(int index) {
      workers.get(index).close();
    }

    @Override
    public void serves() {}

    @Override
    public void close() {}
  }

  /** The process of such a worker. */
  private record ReadyWorker(long pid, ControlSocket socket) implements WorkerProcess {
    @Override
    public Optional<ControlSocket> control() {
      return Optional.of(socket);
    }

    @Override
    public InputStream log() {
      return InputStream.nullInputStream();
    }

    @Override
    public boolean isAlive() {
      return true;
    }

    @Override
    public void share(long guest) {}

    @Override
    public void kill() {}

    @Override
    public OptionalInt awaitEnd(Duration limit) {
      return OptionalInt.of(139);
    }
  }

  @Test
  void aSpareThatEndedIsReplacedAfterAPauseAndNoClientWaitsForThat() throws Exception {
    ReadyStarter starter = new ReadyStarter();
    try (WorkerPool pool = pool(starter, 1)) {
      pool.start();
      starter.end(0);
      while (pool.readyWorkers() > 0) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      assertThat(pool.take(PLAIN, true, Duration.ofMinutes(1)).pid()).isEqualTo(2);
      assertThat(starter.workers).as("no spare during the pause").hasSize(2);
      pass(Duration.ofSeconds(1));
      while (pool.readyWorkers() == 0) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      assertThat(starter.workers).hasSize(3);
    }
  }

  @Test
  void theNextWorkerIsForAGuestThatHasNoSession() throws Exception {
    ReadyStarter starter = new ReadyStarter();
    ExecutorService clients = Executors.newCachedThreadPool();
    try (WorkerPool pool = pool(starter, 1)) {
      pool.start();
      starter.isHeld = true;
      pool.take(PLAIN, true, Duration.ofMinutes(1));
      Future<Worker> greedy = clients.submit(() -> pool.take(PLAIN, false, Duration.ofMinutes(1)));
      starter.awaitStarts(3); // a spare, and one for whoever waits
      Future<Worker> newcomer = clients.submit(() -> pool.take(PLAIN, true, Duration.ofMinutes(1)));
      starter.awaitStarts(4);
      starter.ready(1);
      assertThat(newcomer.get().pid()).isEqualTo(2);
      assertThat(greedy).isNotDone();
      starter.ready(2);
      assertThat(greedy.get().pid()).isEqualTo(3);
    } finally {
      clients.shutdownNow();
    }
  }
}
