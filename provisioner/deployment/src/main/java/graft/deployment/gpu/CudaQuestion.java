package graft.deployment.gpu;

import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID;

import graft.common.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import jcuda.CudaException;
import jcuda.JCudaVersion;
import jcuda.LibUtils;
import jcuda.driver.CUdevice;
import jcuda.driver.JCudaDriver;

/** The process that {@link CudaDriver} starts. It prints one JSON object. */
final class CudaQuestion {
  private CudaQuestion() {}

  public static void main(String[] arguments) {
    System.out.println(Json.line(answer().tree()));
  }

  private static CudaDriver answer() {
    try {
      // The library is loaded here, before JCuda loads it: if loading fails, as without a driver,
      // JCuda would load a file with a predictable name from the temporary folder, where any
      // user may have placed one.
      System.loadLibrary(LibUtils.createPlatformLibraryName("JCudaDriver-" + JCudaVersion.get()));
    } catch (UnsatisfiedLinkError e) {
      return CudaDriver.silent(e.getMessage());
    }
    JCudaDriver.setExceptionsEnabled(true);
    String call = "cuInit";
    try {
      JCudaDriver.cuInit(0);
      call = "cuDriverGetVersion";
      int[] version = new int[1];
      JCudaDriver.cuDriverGetVersion(version);
      call = "cuDeviceGetCount";
      int[] count = new int[1];
      JCudaDriver.cuDeviceGetCount(count);
      call = "a question about a device";
      List<CudaDevice> devices = new ArrayList<>();
      for (int i = 0; i < count[0]; i++) {
        devices.add(device(i));
      }
      return new CudaDriver(version[0] / 1000 + "." + version[0] % 1000 / 10, devices, "");
    } catch (CudaException e) {
      return CudaDriver.silent(call + ": " + e.getMessage());
    }
  }

  private static CudaDevice device(int index) {
    CUdevice device = new CUdevice();
    JCudaDriver.cuDeviceGet(device, index);
    byte[] name = new byte[256];
    JCudaDriver.cuDeviceGetName(name, name.length, device);
    long[] memory = new long[1];
    JCudaDriver.cuDeviceTotalMem(memory, device);
    return new CudaDevice(
        index,
        text(name),
        String.format(
            Locale.ROOT,
            "%04x:%02x:%02x.0",
            attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
            attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)),
        memory[0],
        attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            + "."
            + attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000,
        attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0,
        attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) != 0);
  }

  private static int attribute(CUdevice device, int attribute) {
    int[] value = new int[1];
    JCudaDriver.cuDeviceGetAttribute(value, attribute, device);
    return value[0];
  }

  private static String text(byte[] bytes) {
    int length = 0;
    while (length < bytes.length && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
