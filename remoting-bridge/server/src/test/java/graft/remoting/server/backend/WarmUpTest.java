package graft.remoting.server.backend;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.FakeCuda;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WarmUpTest {
  private final Map<String, Integer> calls = new ConcurrentHashMap<>();
  private final Map<String, Integer> failures = new ConcurrentHashMap<>();

  /** Counts calls by name, and recognizes the code of the warm-up. */
  private CudaDevice counting(CudaDevice device) {
    return (CudaDevice)
        Proxy.newProxyInstance(
            WarmUpTest.class.getClassLoader(),
            new Class<?>[] {CudaDevice.class},
            (proxy, method, arguments) -> {
              calls.merge(method.getName(), 1, Integer::sum);
              switch (method.getName()) {
                case "cuModuleLoadDataEx", "cuLibraryLoadData" -> {
                  Memory.putLong((long) arguments[0], 77);
                  return 0;
                }
                case "cuModuleGetFunction" -> {
                  Memory.putLong((long) arguments[0], 78);
                  return 0;
                }
                case "cuLibraryGetKernel" -> {
                  Memory.putLong((long) arguments[0], 79);
                  return 0;
                }
                case "cuMemGetInfo_v2" -> {
                  Memory.putLong((long) arguments[0], 2L << 30);
                  Memory.putLong((long) arguments[1], 2L << 30);
                  return 0;
                }
                case "cuLaunchKernel",
                    "cuFuncGetAttribute",
                    "cuKernelGetAttribute",
                    "cuModuleUnload",
                    "cuLibraryUnload",
                    "cuMemsetD8Async" -> {
                  return 0;
                }
                default -> {
                  try {
                    int result = (int) method.invoke(device, arguments);
                    if (result != 0) {
                      failures.merge(method.getName() + " " + result, 1, Integer::sum);
                    }
                    return result;
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                }
              }
            });
  }

  private void theContextIsGivenBackAndNoCallFailed() {
    assertThat(calls.get("cuDevicePrimaryCtxRelease_v2"))
        .isEqualTo(calls.get("cuDevicePrimaryCtxRetain"));
    // Not ready, no such attribute, no further parameter: these results are not failures.
    failures.keySet().removeIf(call -> call.endsWith(" 600"));
    assertThat(failures)
        .containsOnlyKeys(
            "cuDeviceGetAttribute 1", "cuFuncGetParamInfo 1", "cuKernelGetParamInfo 1");
  }

  @Test
  void everyCallOfItWorksAndAllIsGivenBack() {
    AtomicInteger rounds = new AtomicInteger();
    // Rounds 0, 16, 32 and 48 are real.
    new WarmUp(
            new PretendingDevice(counting(new FakeCuda())),
            50,
            () -> rounds.incrementAndGet() <= 50)
        .run();
    assertThat(calls).containsEntry("cuLaunchKernel", 8);
    // Each round writes and copies from the shared region once, and reads twice and copies to it.
    assertThat(calls).containsEntry("cuMemcpyHtoDAsync_v2", 8);
    assertThat(calls).containsEntry("cuMemcpyDtoHAsync_v2", 12);
    // One allocation is the warm-up's own; each round makes one, and is given the same again.
    assertThat(calls).containsEntry("cuMemAlloc_v2", 5).containsEntry("cuMemFree_v2", 5);
    assertThat(calls)
        .containsEntry("cuMemHostRegister_v2", 1)
        .containsEntry("cuMemHostUnregister", 1);
    assertThat(calls).containsEntry("cuModuleUnload", 1).containsEntry("cuLibraryUnload", 1);
    // Its own stream, and the one on which memory is erased that is given again.
    assertThat(calls).containsEntry("cuStreamCreate", 2).containsEntry("cuStreamDestroy_v2", 2);
    theContextIsGivenBackAndNoCallFailed();
  }

  @Test
  void thereIsASessionOverRingsAndOneOverASocket() {
    AtomicInteger questions = new AtomicInteger();
    // The warm-up asks before each round and between its sessions, and every third answer is no:
    // each session has two rounds, of which the first is real.
    new WarmUp(
            new PretendingDevice(counting(new FakeCuda())),
            50,
            () -> questions.incrementAndGet() % 3 != 0)
        .run();
    assertThat(calls).containsEntry("cuLaunchKernel", 4);
    assertThat(calls).as("what a client shares").containsEntry("cuMemHostRegister_v2", 1);
    assertThat(calls).containsEntry("cuModuleUnload", 2).containsEntry("cuLibraryUnload", 2);
    theContextIsGivenBackAndNoCallFailed();
  }

  @Test
  void afterAWarmUpThatFailsTheDeviceIsRealAgain() {
    PretendingDevice device = new PretendingDevice(counting(new FakeCuda()));
    AtomicInteger rounds = new AtomicInteger();
    new WarmUp(
            device,
            50,
            () -> {
              if (rounds.incrementAndGet() == 5) {
                throw new IllegalStateException("broken off");
              }
              return true;
            })
        .run();
    calls.clear();
    device.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    assertThat(calls).containsEntry("cuLaunchKernel", 1);
  }

  @Test
  void aSessionThatFailsEndsItsClient() {
    CudaDevice failing =
        new ForwardingDevice(counting(new FakeCuda())) {
          @Override
          public int cuEventRecord(long event, long stream) {
            throw new IllegalStateException("broken off");
          }
        };
    new WarmUp(new PretendingDevice(failing), 50, () -> true).run();
    assertThat(calls).containsEntry("cuLaunchKernel", 2);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("graft-warm-up"));
  }

  @Test
  void aDeviceThatRefusesEverythingIsLeftAlone() {
    new WarmUp(new PretendingDevice(new CudaDevice() {}), 50, () -> true).run();
    assertThat(calls).isEmpty();
  }
}
