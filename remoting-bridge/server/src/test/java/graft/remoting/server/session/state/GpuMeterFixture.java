package graft.remoting.server.session.state;

import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.session.memory.HostMemory;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * A meter of a device whose work ends when a test says so, by a clock that a test moves. The
 * session has the device for itself at first.
 */
@Timeout(120)
abstract class GpuMeterFixture {
  static final long STREAM = 0x51;
  static final long OTHER = 0x52;

  final AtomicLong clock = new AtomicLong();
  final QueueingDevice device = new QueueingDevice();
  LeasePage page;
  GpuLease lease;
  GpuMeter meter;
  SessionContext context;

  @BeforeEach
  void open() throws IOException {
    page = LeasePage.create(clock::get);
    page.grant(LeasePage.Queueing.ANY);
    lease = GpuLease.map(page.fd(), clock::get);
    meter = new GpuMeter(device, lease, clock::get);
    context = new SessionContext(device, HostMemory.unlimited(), 7);
  }

  @AfterEach
  void close() {
    page.close();
  }

  static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait(); // ended by the test's time limit
    }
  }
}
