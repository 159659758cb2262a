package graft.remoting.software;

import static graft.remoting.software.TestDevice.check;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.WorkGate;
import graft.remoting.software.memory.Native;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What asks the device's gate before it begins, and what goes on while the gate is closed. */
@Timeout(60)
final class WorkGateTest {
  private static final int NOT_READY = 600;

  /** A gate that counts, and that is closed until it is opened. */
  private static final class CountingGate implements WorkGate {
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final CountDownLatch isOpen = new CountDownLatch(1);

    @Override
    public void begin() {
      try {
        isOpen.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      begun.incrementAndGet();
    }

    @Override
    public void end() {
      ended.incrementAndGet();
    }
  }

  private final CountingGate gate = new CountingGate();
  private final TestDevice device =
      new TestDevice(SoftwareDeviceConfig.defaults().withMemoryBytes(16 << 20).withGate(gate));

  @AfterEach
  void close() {
    device.close();
  }

  private long stream() {
    long stream = device.bytes(8);
    check(device.driver().cuStreamCreate(stream, 1));
    return Native.UNSAFE.getLong(stream);
  }

  private void assertPassed(int pieces) {
    assertThat(gate.begun).hasValue(pieces);
    assertThat(gate.ended).hasValue(pieces);
  }

  @Test
  void fillsAndCopiesAskTheGate() {
    gate.isOpen.countDown();
    long memory = device.allocate(4096);
    check(device.driver().cuMemsetD8_v2(memory, 1, 4096));
    check(device.driver().cuCtxSynchronize());
    assertPassed(1);
    check(device.driver().cuMemcpyDtoH_v2(device.bytes(4096), memory, 4096));
    assertPassed(2);
    long stream = stream();
    check(device.driver().cuMemcpyDtoDAsync_v2(memory, memory + 2048, 1024, stream));
    check(device.driver().cuStreamSynchronize(stream));
    assertPassed(3);
  }

  @Test
  void eachPieceOfAGraphAsksTheGate() {
    gate.isOpen.countDown();
    long memory = device.allocate(4096);
    long stream = stream();
    long graph = device.bytes(8);
    long exec = device.bytes(8);
    check(device.driver().cuStreamBeginCapture_v2(stream, 0));
    for (int i = 0; i < 3; i++) {
      check(device.driver().cuMemsetD8Async(memory, i, 4096, stream));
    }
    check(device.driver().cuStreamEndCapture(stream, graph));
    check(device.driver().cuGraphInstantiateWithFlags(exec, Native.UNSAFE.getLong(graph), 0));
    assertPassed(0);
    check(device.driver().cuGraphLaunch(Native.UNSAFE.getLong(exec), stream));
    check(device.driver().cuStreamSynchronize(stream));
    assertPassed(3);
  }

  @Test
  void callsGoOnWhileTheGateIsClosed() {
    long memory = device.allocate(4096);
    long stream = stream();
    check(device.driver().cuMemsetD8Async(memory, 7, 4096, stream));
    assertThat(device.driver().cuStreamQuery(stream)).isEqualTo(NOT_READY);
    device.allocate(4096);
    assertPassed(0);
    gate.isOpen.countDown();
    check(device.driver().cuStreamSynchronize(stream));
    assertPassed(1);
  }

  @Test
  void eventsDoNotAskTheGate() {
    long event = device.bytes(8);
    check(device.driver().cuEventCreate(event, 0));
    check(device.driver().cuEventRecord(Native.UNSAFE.getLong(event), 0));
    check(device.driver().cuEventSynchronize(Native.UNSAFE.getLong(event)));
    assertPassed(0);
  }
}
