package graft.remoting.software;

import graft.remoting.software.driver.SoftwareDriver;

/**
 * A CUDA device without a GPU.
 *
 * <p>{@link #create} gives a CUDA driver that runs the PTX of ordinary nvcc binaries on the CPU. It
 * reports what it cannot do: {@code CUDA_ERROR_NO_BINARY_FOR_GPU} for an image without PTX, {@code
 * CUDA_ERROR_NOT_SUPPORTED} for PTX with an instruction that it lacks; the log then names the
 * instruction and its line, or says how to compile. A kernel that accesses memory outside an
 * allocation ends its context with {@code CUDA_ERROR_ILLEGAL_ADDRESS}, and the log names the
 * kernel, the address and the thread.
 */
public final class SoftwareDevice extends SoftwareDriver {
  private SoftwareDevice(SoftwareDeviceConfig config) {
    super(config);
  }

  /** Makes a device; its memory is reserved when a context is made. */
  public static SoftwareDevice create(SoftwareDeviceConfig config) {
    return new SoftwareDevice(config);
  }
}
