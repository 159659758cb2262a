package graft.remoting.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.MemoryChannel;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.code.PrintingCode;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.session.state.SessionState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a wait for a context asks of the driver. */
final class WaitCallsTest {
  private static final long STREAM = 0x5000;
  private static final long CAPTURED = 0x6000;
  private static final long OF_ANOTHER_CONTEXT = 0x7000;
  private static final long CONTEXT = 0xC0;
  private static final long OTHER_CONTEXT = 0xC1;
  private static final int FAILED = 700;

  /** A driver of whose streams one may be captured. */
  private static final class Driver implements CudaDevice {
    final List<Long> queries = new ArrayList<>();
    final BlockingQueue<String> waits = new LinkedBlockingQueue<>();
    int query = CudaResult.SUCCESS;
    int created;
    CountDownLatch freeing = new CountDownLatch(0);

    @Override
    public int cuStreamQuery(long stream) {
      assertThat(stream).as("a question would end its capture").isNotEqualTo(CAPTURED);
      queries.add(stream);
      return query;
    }

    @Override
    public int cuStreamIsCapturing(long stream, long status) {
      Memory.putInt(status, stream == CAPTURED ? 1 : 0);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuCtxSynchronize() {
      waits.add("context");
      return query;
    }

    @Override
    public int cuEventRecord(long event, long stream) {
      if (stream == OF_ANOTHER_CONTEXT) {
        return CudaResult.INVALID_HANDLE;
      }
      waits.add("event in " + Long.toHexString(stream));
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuEventCreate(long event, int flags) {
      Memory.putLong(event, 0x8000 + ++created);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuEventSynchronize(long event) {
      waits.add("event");
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemHostAlloc(long pointer, long bytes, int flags) {
      Memory.putLong(pointer, 0x7000);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemFreeHost(long pointer) {
      try {
        freeing.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      waits.add("free " + Long.toHexString(pointer));
      return CudaResult.SUCCESS;
    }
  }

  private final Driver driver = new Driver();
  private final UsedStreams streams = new UsedStreams();
  private final MemoryChannel channel = new MemoryChannel(new Random(1));
  private final WaitCalls calls = calls(HostMemory.unlimited());

  private WaitCalls calls(HostMemory memory) {
    return new WaitCalls(
        driver,
        new SessionState(driver, memory, channel, 0, GpuLease.endless()),
        streams,
        new PrintingCode());
  }

  @Test
  void nothingIsWaitedForThatIsOver() {
    streams.add(STREAM);
    streams.add(0);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).as("each once").containsExactly(STREAM, 0L);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).as("the legacy stream always").containsExactly(STREAM, 0L, 0L);
    assertThat(driver.waits).isEmpty();
  }

  @Test
  void theLegacyStreamOfAContextIsAskedOnlyWhereItMayHaveWork() {
    streams.add(STREAM);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).as("nothing is known of it yet").containsExactly(STREAM, 0L);
    driver.queries.clear();
    streams.add(STREAM);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).containsExactly(STREAM);
    driver.queries.clear();
    streams.add(STREAM);
    streams.changeContext(CONTEXT);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).as("that of another context alone").containsExactly(0L);
    driver.queries.clear();
    streams.add(STREAM);
    streams.add(0);
    streams.add(STREAM);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).containsExactly(STREAM, 0L);
    assertThat(driver.waits).isEmpty();
  }

  /** A question about a captured stream would make its capture invalid. */
  @Test
  void theStreamsOfOtherContextsAreLeftAlone() throws InterruptedException {
    streams.changeContext(CONTEXT);
    streams.add(CAPTURED);
    streams.add(OF_ANOTHER_CONTEXT);
    streams.remove(OF_ANOTHER_CONTEXT);
    streams.changeContext(OTHER_CONTEXT);
    streams.add(STREAM);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.queries).containsExactly(STREAM, 0L);
    assertThat(driver.waits).isEmpty();
    streams.changeContext(CONTEXT);
    assertThat(calls.graftContextDrain(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(1)).as("the capture is still known").containsExactly("free 7000");
  }

  @Test
  void theDriverIsAskedWhereWorkMayBeUnknownAndForItsError() {
    streams.add(STREAM);
    streams.remove(STREAM);
    assertThat(calls.graftContextSynchronize(null)).isZero();
    assertThat(driver.waits).as("the work of a stream that is gone").containsExactly("context");
    driver.query = FAILED;
    assertThat(calls.graftContextSynchronize(null)).isEqualTo(FAILED);
    assertThat(driver.waits).hasSize(2);
  }

  @Test
  void aWaitForTheWorkOfOneStreamIsForAnEvent() throws InterruptedException {
    streams.clear();
    driver.query = CudaResult.NOT_READY;
    for (long stream : new long[] {STREAM, 0}) {
      streams.add(stream);
      assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
      assertThat(driver.waits.poll(1, TimeUnit.MINUTES))
          .isEqualTo("event in " + Long.toHexString(stream));
      assertThat(driver.waits.poll(1, TimeUnit.MINUTES)).isEqualTo("event");
      streams.clear();
    }
    assertThat(driver.waits).isEmpty();
  }

  @Test
  void aWaitForTheWorkOfSeveralStreamsIsForAnEventInEach() throws InterruptedException {
    driver.query = CudaResult.NOT_READY;
    streams.add(STREAM); // and the legacy stream, of which nothing is known yet
    streams.add(STREAM + 1);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(5))
        .containsExactly("event in 5000", "event in 5001", "event in 0", "event", "event");
    assertThat(next(1)).containsExactly("event");
    streams.clear();
    streams.add(STREAM);
    streams.add(STREAM + 1);
    streams.remove(STREAM);
    streams.clear();
    streams.add(0);
    streams.add(STREAM);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(4)).containsExactly("event in 0", "event in 5000", "event", "event");
    assertThat(driver.waits).isEmpty();
  }

  @Test
  void aWaitForMoreIsTheDriversOwn() throws InterruptedException {
    driver.query = CudaResult.NOT_READY;
    streams.add(STREAM);
    streams.add(STREAM + 1);
    streams.remove(STREAM);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(1)).as("the work of a stream that is gone").containsExactly("context");
    streams.clear();
    streams.add(STREAM);
    streams.add(CAPTURED);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(1)).as("a capture must not get an event").containsExactly("context");
    streams.clear();
    streams.add(STREAM);
    streams.add(OF_ANOTHER_CONTEXT);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(2)).containsExactly("event in 5000", "context");
    assertThat(driver.created).as("the event was given back").isEqualTo(2);
    assertThat(calls.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(2)).containsExactly("event in 5000", "context");
    assertThat(driver.created).isEqualTo(2);
  }

  /** The driver's next waits and recorded events. */
  private List<String> next(int count) throws InterruptedException {
    List<String> all = new ArrayList<>();
    while (all.size() < count) {
      all.add(driver.waits.poll(1, TimeUnit.MINUTES));
    }
    return all;
  }

  @Test
  void waitsWithoutEndTakeHostMemoryAndAreLimitedByIt() {
    HostMemory little = new HostMemory(HostMemory.OBJECT, GuestUse.unlimited(), which -> {});
    driver.freeing = new CountDownLatch(1);
    WaitCalls limited = calls(little);
    streams.add(CAPTURED);
    assertThat(limited.graftContextDrain(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThatThrownBy(() -> limited.graftContextDrain(new Call(channel)))
        .isInstanceOfSatisfying(
            RefusedCallException.class,
            refused -> assertThat(refused.result()).isEqualTo(CudaResult.OUT_OF_MEMORY));
    streams.clear();
    streams.add(STREAM);
    driver.query = CudaResult.NOT_READY;
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> limited.graftContextSynchronize(new Call(channel)))
          .isInstanceOf(RefusedCallException.class);
    }
    assertThat(driver.created).as("a refused wait keeps no event").isEqualTo(1);
    driver.freeing.countDown();
  }

  @Test
  void aWaitForSeveralStreamsTakesHostMemoryForEach() throws InterruptedException {
    driver.query = CudaResult.NOT_READY;
    streams.clear();
    streams.add(STREAM);
    streams.add(STREAM + 1);
    WaitCalls limited = calls(new HostMemory(HostMemory.OBJECT, GuestUse.unlimited(), which -> {}));
    assertThatThrownBy(() -> limited.graftContextSynchronize(new Call(channel)))
        .isInstanceOf(RefusedCallException.class);
    WaitCalls enough =
        calls(new HostMemory(2 * HostMemory.OBJECT, GuestUse.unlimited(), which -> {}));
    assertThat(enough.graftContextSynchronize(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(next(6)).endsWith("event", "event");
  }

  @Test
  void aCaptureIsLeftAlone() throws InterruptedException {
    streams.add(STREAM);
    assertThat(calls.graftContextDrain(null)).isZero();
    assertThat(driver.waits).isEmpty();
    streams.add(STREAM);
    streams.add(CAPTURED);
    assertThat(calls.graftContextDrain(new Call(channel))).isEqualTo(Call.DEFERRED);
    assertThat(driver.waits.poll(1, TimeUnit.MINUTES)).isEqualTo("free 7000");
    assertThat(driver.waits).isEmpty();
  }
}
