package graft.remoting.server.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.system.ServerException;
import org.junit.jupiter.api.Test;

/** When an opened device makes its context. */
final class WarmDeviceTest {
  /** A driver with one GPU, which counts its contexts, and the calls that need one. */
  private static final class Driver implements CudaDevice {
    int retained;
    int worked;
    boolean full;

    @Override
    public int cuInit(int flags) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuDeviceGetCount(long count) {
      Memory.putInt(count, 1);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuDeviceGetName(long name, int bytes, int device) {
      Memory.putLong(name, 'G');
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuDevicePrimaryCtxRetain(long context, int device) {
      retained++;
      Memory.putLong(context, 7);
      return full ? CudaResult.OUT_OF_MEMORY : CudaResult.SUCCESS;
    }

    @Override
    public int cuMemAlloc_v2(long address, long bytes) {
      worked++;
      return CudaResult.OUT_OF_MEMORY;
    }
  }

  private final Driver driver = new Driver();

  private WarmDevice opened(boolean makesContext) throws ServerException {
    WarmDevice device = WarmDevice.open(driver, false, makesContext);
    assertThat(device.description()).isEqualTo("1 x G");
    return device;
  }

  @Test
  void itsContextIsMadeWhenItIsOpened() throws Exception {
    WarmDevice device = opened(true);
    assertThat(driver.retained).isEqualTo(1);
    device.warmUp(0, () -> true);
    assertThat(driver.worked).isEqualTo(1);
  }

  @Test
  void withoutAContextThereIsNoWarmUp() throws Exception {
    opened(false).warmUp(0, () -> true);
    assertThat(driver.retained).isZero();
    assertThat(driver.worked).isZero();
  }

  @Test
  void anAdapterThatReachesTheGpuNeedsTheContext() throws Exception {
    WarmDevice device = opened(false);
    device.findGpuDirect(GpuDirect.Setting.OFF);
    assertThat(driver.retained).isEqualTo(1);
    device.findGpuDirect(GpuDirect.Setting.OFF);
    assertThat(driver.retained).isEqualTo(1);
  }

  @Test
  void aFullGpuIsToldWhenTheContextIsMade() throws Exception {
    driver.full = true;
    opened(false);
    assertThatThrownBy(() -> opened(true))
        .isInstanceOf(ServerException.class)
        .hasMessageContaining("create a context on G")
        .hasMessageContaining("its memory is used up");
  }
}
