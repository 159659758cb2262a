package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.Memory;
import java.lang.reflect.Proxy;
import java.util.Random;

/** A device that returns random results and does not access memory. */
public final class RandomDevice {
  private RandomDevice() {}

  public static CudaDevice of(Random random) {
    int[] answers = {0, 0, 0, 0, 1, 2, 400, 700, 801};
    return (CudaDevice)
        Proxy.newProxyInstance(
            RandomDevice.class.getClassLoader(),
            new Class<?>[] {CudaDevice.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "cuMemHostAlloc" -> {
                  long bytes = (long) arguments[1];
                  if (bytes > 8 << 20) {
                    return 2;
                  }
                  Memory.putLong((long) arguments[0], Memory.allocate(bytes));
                  return 0;
                }
                case "cuMemFreeHost" -> {
                  Memory.free((long) arguments[0]);
                  return 0;
                }
                // Objects are not 0, so that they get ids.
                case "cuStreamCreate", "cuEventCreate", "cuGraphCreate" -> {
                  Memory.putLong((long) arguments[0], random.nextInt(1000) + 1);
                  return 0;
                }
                // Ends the list of parameters, sooner or later.
                case "cuFuncGetParamInfo", "cuKernelGetParamInfo" -> {
                  return random.nextInt(4) == 0 ? 1 : 0;
                }
                case "cuFuncGetName", "cuKernelGetName" -> {
                  return 1;
                }
                default -> {
                  return answers[random.nextInt(answers.length)];
                }
              }
            });
  }
}
