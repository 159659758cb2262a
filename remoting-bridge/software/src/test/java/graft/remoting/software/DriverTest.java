package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Driver calls without a program: errors, order of streams, capture, occupancy. */
final class DriverTest {
  private TestDevice device;
  private SoftwareDevice driver;

  @BeforeEach
  void open() {
    device = new TestDevice();
    driver = device.driver();
  }

  @AfterEach
  void close() {
    device.close();
  }

  private long made(java.util.function.LongToIntFunction call) {
    long result = device.bytes(8);
    TestDevice.check(call.applyAsInt(result));
    return Native.UNSAFE.getLong(result);
  }

  private int number(java.util.function.LongToIntFunction call) {
    return (int) made(call);
  }

  @Test
  void attributesAgreeWithEachOther() {
    assertThat(number(r -> driver.cuDeviceGetAttribute(r, 75, 0))).isEqualTo(9);
    assertThat(number(r -> driver.cuDeviceGetAttribute(r, 76, 0))).isZero();
    int opt = number(r -> driver.cuDeviceGetAttribute(r, 97, 0));
    int multiprocessor = number(r -> driver.cuDeviceGetAttribute(r, 81, 0));
    int reserved = number(r -> driver.cuDeviceGetAttribute(r, 111, 0));
    assertThat(opt + reserved).isEqualTo(multiprocessor);
    assertThat(driver.cuDeviceGetAttribute(device.bytes(8), 9999, 0))
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(driver.cuDeviceGetAttribute(device.bytes(8), 1, 7))
        .isEqualTo(CudaResult.INVALID_DEVICE);
  }

  @Test
  void nothingWorksBeforeInit() {
    try (SoftwareDevice fresh = SoftwareDevice.create(SoftwareDeviceConfig.defaults())) {
      assertThat(fresh.cuDeviceGetCount(device.bytes(8))).isEqualTo(CudaResult.NOT_INITIALIZED);
    }
  }

  @Test
  void callsWithoutAContextAreRefused() {
    TestDevice.check(driver.cuCtxSetCurrent(0));
    assertThat(driver.cuMemAlloc_v2(device.bytes(8), 16)).isEqualTo(CudaResult.INVALID_CONTEXT);
  }

  @Test
  void memoryHasItsLimit() {
    assertThat(driver.cuMemAlloc_v2(device.bytes(8), 1L << 30)).isEqualTo(CudaResult.OUT_OF_MEMORY);
    long address = device.allocate(4096);
    assertThat(driver.cuMemFree_v2(address + 8)).isEqualTo(CudaResult.INVALID_VALUE);
    TestDevice.check(driver.cuMemFree_v2(address));
    assertThat(driver.cuMemcpyHtoD_v2(address, device.bytes(16), 16))
        .isEqualTo(CudaResult.INVALID_VALUE);
  }

  @Test
  void anUnsupportedInstructionFailsTheLoad() {
    long text =
        device.text(".version 8.0\n.target sm_75\n.address_size 64\n.entry k() {\n wmma.odd;\n}\n");
    assertThat(driver.cuModuleLoadData(device.bytes(8), text)).isEqualTo(CudaResult.NOT_SUPPORTED);
    assertThat(driver.cuModuleLoadData(device.bytes(8), device.text("nonsense")))
        .isIn(CudaResult.INVALID_PTX, CudaResult.NOT_SUPPORTED);
  }

  @Test
  void parametersAreDescribed() {
    long module = device.load(TestDevice.resource("basic.ptx"));
    long f = device.function(module, "saxpy");
    long offset = device.bytes(8);
    long size = device.bytes(8);
    long[] expectedOffsets = {0, 4, 8, 16};
    long[] expectedSizes = {4, 4, 8, 8};
    for (int i = 0; i < 4; i++) {
      TestDevice.check(driver.cuFuncGetParamInfo(f, i, offset, size));
      assertThat(Native.UNSAFE.getLong(offset)).isEqualTo(expectedOffsets[i]);
      assertThat(Native.UNSAFE.getLong(size)).isEqualTo(expectedSizes[i]);
    }
    assertThat(driver.cuFuncGetParamInfo(f, 4, offset, size)).isEqualTo(CudaResult.INVALID_VALUE);
  }

  @Test
  void launchesAreChecked() {
    long module = device.load(TestDevice.resource("basic.ptx"));
    long f = device.function(module, "vectorAdd");
    long p = device.upload(1f);
    assertThat(device.run(f, 1, 2000, p, p, p, 1)).isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(device.run(f, 0, 32, p, p, p, 1)).isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(
            driver.cuLaunchKernel(
                f, 1, 1, 1, 32, 1, 1, 10 << 20, 0, device.parameters(p, p, p, 1), 0))
        .isEqualTo(CudaResult.INVALID_VALUE);
    TestDevice.check(device.run(f, 1, 32, p, p, p, 1));
    assertThat(device.downloadFloats(p, 1)).containsExactly(2f);
  }

  @Test
  void aGraphIsCapturedAndRunsAgainAndAgain() {
    long module = device.load(TestDevice.resource("basic.ptx"));
    long f = device.function(module, "vectorAdd");
    long p = device.upload(1f);
    long stream = made(r -> driver.cuStreamCreate(r, 1));
    TestDevice.check(driver.cuStreamBeginCapture_v2(stream, 0));
    long parameters = device.parameters(p, p, p, 1);
    for (int i = 0; i < 3; i++) {
      TestDevice.check(driver.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, parameters, 0));
    }
    assertThat(driver.cuStreamSynchronize(stream)).isEqualTo(CudaResult.STREAM_CAPTURE_UNSUPPORTED);
    assertThat(driver.cuStreamEndCapture(stream, device.bytes(8)))
        .isEqualTo(CudaResult.STREAM_CAPTURE_INVALIDATED);
    TestDevice.check(driver.cuStreamBeginCapture_v2(stream, 0));
    for (int i = 0; i < 3; i++) {
      TestDevice.check(driver.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, parameters, 0));
    }
    long graph = made(r -> driver.cuStreamEndCapture(stream, r));
    assertThat(device.downloadFloats(p, 1)).containsExactly(1f);
    long exec = made(r -> driver.cuGraphInstantiateWithFlags(r, graph, 0));
    TestDevice.check(driver.cuGraphLaunch(exec, stream));
    TestDevice.check(driver.cuGraphLaunch(exec, stream));
    TestDevice.check(driver.cuStreamSynchronize(stream));
    assertThat(device.downloadFloats(p, 1)).containsExactly(64f);
  }

  @Test
  void eventsComeInOrder() {
    long module = device.load(TestDevice.resource("basic.ptx"));
    long f = device.function(module, "vectorAdd");
    long p = device.upload(1f);
    long first = made(r -> driver.cuStreamCreate(r, 1));
    long second = made(r -> driver.cuStreamCreate(r, 1));
    long event = made(r -> driver.cuEventCreate(r, 0));
    long end = made(r -> driver.cuEventCreate(r, 0));
    long parameters = device.parameters(p, p, p, 1);
    for (int i = 0; i < 20; i++) {
      long from = i % 2 == 0 ? first : second;
      long to = i % 2 == 0 ? second : first;
      TestDevice.check(driver.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, from, parameters, 0));
      TestDevice.check(driver.cuEventRecord(event, from));
      TestDevice.check(driver.cuStreamWaitEvent(to, event, 0));
    }
    TestDevice.check(driver.cuEventRecord(end, first));
    TestDevice.check(driver.cuEventSynchronize(end));
    assertThat(device.downloadFloats(p, 1)).containsExactly(0x1p20f);
    assertThat(driver.cuEventElapsedTime(device.bytes(8), event, end)).isZero();
  }

  @Test
  void theBestBlockFillsAMultiprocessor() {
    long module = device.load(TestDevice.resource("basic.ptx"));
    long f = device.function(module, "reduce");
    int blocks = number(r -> driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(r, f, 256, 1024));
    assertThat(blocks).isEqualTo(8);
    assertThat(
            number(r -> driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(r, f, 256, 200 << 10)))
        .isEqualTo(1);
  }
}
