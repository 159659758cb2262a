package graft.remoting.server.session.copy;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.transport.UnsharedRegion;
import java.io.IOException;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** The number that a client polls for behind a copy arrives, also if the driver refuses both. */
final class RegionSignalTest {
  private static final int SIGNAL = 7;

  /** A driver that writes no value. */
  private static final class Driver implements CudaDevice {
    int answer = CudaResult.SUCCESS;

    @Override
    public int cuMemHostRegister_v2(long address, long bytes, int flags) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamWriteValue32_v2(long stream, long address, int value, int flags) {
      return answer;
    }
  }

  private final Driver driver = new Driver();

  @Test
  void theDriverWritesItUnlessItRefuses() throws IOException {
    try (UnsharedRegion region = new UnsharedRegion()) {
      RegionCalls calls = new RegionCalls(driver, channel(region));
      assertThat(calls.graftRegionMap(null, 0, UnsharedRegion.BYTES)).isZero();
      assertThat(calls.graftSignal(null, region.address(), SIGNAL, 0)).isZero();
      assertThat(Memory.getInt(region.address())).as("left to the driver").isZero();
      driver.answer = CudaResult.STREAM_CAPTURE_IMPLICIT;
      assertThat(calls.graftSignal(null, region.address(), SIGNAL, 0))
          .isEqualTo(CudaResult.STREAM_CAPTURE_IMPLICIT);
      assertThat(Memory.getInt(region.address())).isEqualTo(SIGNAL);
    }
  }

  @Test
  void nothingIsWrittenOutsideOfTheRegion() throws IOException {
    try (UnsharedRegion region = new UnsharedRegion()) {
      RegionCalls calls = new RegionCalls(driver, channel(region));
      driver.answer = CudaResult.STREAM_CAPTURE_IMPLICIT;
      long end = region.address() + UnsharedRegion.BYTES;
      for (long address : new long[] {0, region.address(), end - 2, end, Long.MAX_VALUE}) {
        assertThat(calls.graftSignal(null, address, SIGNAL, 0))
            .as("%x, of which no chunk is mapped", address)
            .isEqualTo(CudaResult.INVALID_VALUE);
      }
      assertThat(calls.graftRegionMap(null, 0, UnsharedRegion.BYTES)).isZero();
      for (long address : new long[] {region.address() - 4, end - 2, end, -4}) {
        assertThat(calls.graftSignal(null, address, SIGNAL, 0))
            .as("%x", address)
            .isEqualTo(CudaResult.INVALID_VALUE);
      }
    }
  }

  private static Channel channel(UnsharedRegion region) {
    return (Channel)
        Proxy.newProxyInstance(
            Channel.class.getClassLoader(),
            new Class<?>[] {Channel.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("region");
              return region;
            });
  }
}
