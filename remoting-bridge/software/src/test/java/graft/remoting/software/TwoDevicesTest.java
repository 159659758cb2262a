package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import org.junit.jupiter.api.Test;

/** What programs do with the memory of one device while the other one's context is current. */
final class TwoDevicesTest {
  /** As on GPUs, where a pointer alone says whose memory it is. */
  @Test
  void memoryIsFreedWhileTheOtherDeviceIsCurrent() {
    try (TestDevice device = new TestDevice(SoftwareDeviceConfig.defaults().withDeviceCount(2))) {
      SoftwareDevice driver = device.driver();
      long first = currentContext(device);
      long result = device.bytes(8);
      TestDevice.check(driver.cuDevicePrimaryCtxRetain(result, 1));
      TestDevice.check(driver.cuCtxSetCurrent(Native.UNSAFE.getLong(result)));
      TestDevice.check(driver.cuMemAlloc_v2(result, 4096));
      long memory = Native.UNSAFE.getLong(result);
      TestDevice.check(driver.cuCtxSetCurrent(first));
      TestDevice.check(driver.cuMemFree_v2(memory));
      assertThat(driver.cuMemFree_v2(memory)).as("freed again").isEqualTo(CudaResult.INVALID_VALUE);
    }
  }

  private static long currentContext(TestDevice device) {
    long result = device.bytes(8);
    TestDevice.check(device.driver().cuCtxGetCurrent(result));
    return Native.UNSAFE.getLong(result);
  }
}
