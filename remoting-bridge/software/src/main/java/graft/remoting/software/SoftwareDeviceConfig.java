package graft.remoting.software;

import graft.remoting.software.exec.KernelOutput;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/**
 * The properties of a software device.
 *
 * @param memoryBytes the memory of each device, in bytes
 * @param deviceCount the number of devices
 * @param computeMajor the major number of the compute capability: PTX for newer ones is refused
 * @param computeMinor its minor number
 * @param threads the largest number of cores that a kernel uses
 * @param output receives the text that kernels write
 */
public record SoftwareDeviceConfig(
    long memoryBytes,
    int deviceCount,
    int computeMajor,
    int computeMinor,
    int threads,
    KernelOutput output) {
  private static final FileOutputStream STANDARD_ERROR = new FileOutputStream(FileDescriptor.err);

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

  /**
   * Returns one device of compute capability 9.0 with 1 GiB that uses all cores. Kernels print to
   * {@code System.out}. Failed assertions go to the process' descriptor of standard error, as in
   * CUDA, and not to {@code System.err}, which may be a log.
   */
  public static SoftwareDeviceConfig defaults() {
    return new SoftwareDeviceConfig(
        1L << 30,
        1,
        9,
        0,
        Runtime.getRuntime().availableProcessors(),
        new KernelOutput(
            text -> {
              System.out.write(text, 0, text.length);
              System.out.flush();
            },
            SoftwareDeviceConfig::writeToStandardError));
  }

  private static void writeToStandardError(byte[] text) {
    try {
      STANDARD_ERROR.write(text);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to standard error", e);
    }
  }

  public SoftwareDeviceConfig withMemoryBytes(long bytes) {
    return new SoftwareDeviceConfig(
        bytes, deviceCount, computeMajor, computeMinor, threads, output);
  }

  public SoftwareDeviceConfig withDeviceCount(int count) {
    return new SoftwareDeviceConfig(
        memoryBytes, count, computeMajor, computeMinor, threads, output);
  }

  public SoftwareDeviceConfig withComputeCapability(int major, int minor) {
    return new SoftwareDeviceConfig(memoryBytes, deviceCount, major, minor, threads, output);
  }

  public SoftwareDeviceConfig withThreads(int count) {
    return new SoftwareDeviceConfig(
        memoryBytes, deviceCount, computeMajor, computeMinor, count, output);
  }

  /**
   * Sets where the text that kernels write goes.
   *
   * @param standard receives what kernels print
   * @param error receives the messages of failed assertions
   */
  public SoftwareDeviceConfig withOutput(Consumer<byte[]> standard, Consumer<byte[]> error) {
    return new SoftwareDeviceConfig(
        memoryBytes,
        deviceCount,
        computeMajor,
        computeMinor,
        threads,
        new KernelOutput(standard, error));
  }
}
