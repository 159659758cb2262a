package graft.remoting.software;

import java.util.function.Consumer;

/**
 * What a software device is to be.
 *
 * @param memoryBytes device memory of each device, in bytes
 * @param deviceCount number of devices
 * @param computeMajor major number of the compute capability: PTX for newer ones is not taken
 * @param computeMinor its minor number
 * @param threads cores that a kernel uses at most
 * @param printf takes what kernels print, in the encoding of the program; called by several threads
 */
public record SoftwareDeviceConfig(
    long memoryBytes,
    int deviceCount,
    int computeMajor,
    int computeMinor,
    int threads,
    Consumer<byte[]> printf) {

  public SoftwareDeviceConfig {
    if (memoryBytes < 1 << 20) {
      throw new IllegalArgumentException(
          "a software device needs at least 1 MiB of memory, not " + memoryBytes + " bytes");
    }
    if (deviceCount < 1 || deviceCount > 64) {
      throw new IllegalArgumentException("1 to 64 software devices, not " + deviceCount);
    }
    if (computeMajor * 10 + computeMinor < 75) {
      throw new IllegalArgumentException(
          "the compute capability of a software device is 7.5 or higher, not "
              + computeMajor
              + "."
              + computeMinor);
    }
    if (threads < 1) {
      throw new IllegalArgumentException("a software device needs at least one thread");
    }
  }

  /** One device of compute capability 9.0 with 1 GiB on all cores, printing to standard output. */
  public static SoftwareDeviceConfig defaults() {
    return new SoftwareDeviceConfig(
        1L << 30,
        1,
        9,
        0,
        Runtime.getRuntime().availableProcessors(),
        text -> {
          System.out.write(text, 0, text.length);
          System.out.flush();
        });
  }

  public SoftwareDeviceConfig withMemoryBytes(long bytes) {
    return new SoftwareDeviceConfig(
        bytes, deviceCount, computeMajor, computeMinor, threads, printf);
  }

  public SoftwareDeviceConfig withDeviceCount(int count) {
    return new SoftwareDeviceConfig(
        memoryBytes, count, computeMajor, computeMinor, threads, printf);
  }

  public SoftwareDeviceConfig withComputeCapability(int major, int minor) {
    return new SoftwareDeviceConfig(memoryBytes, deviceCount, major, minor, threads, printf);
  }

  public SoftwareDeviceConfig withThreads(int count) {
    return new SoftwareDeviceConfig(
        memoryBytes, deviceCount, computeMajor, computeMinor, count, printf);
  }

  public SoftwareDeviceConfig withPrintf(Consumer<byte[]> sink) {
    return new SoftwareDeviceConfig(
        memoryBytes, deviceCount, computeMajor, computeMinor, threads, sink);
  }
}
