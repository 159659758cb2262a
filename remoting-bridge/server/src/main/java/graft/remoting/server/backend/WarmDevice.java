package graft.remoting.server.backend;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Ucx;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * An open device. Its first GPU may have its primary context already, because creating it takes
 * long; the context takes memory of the GPU, though.
 */
public final class WarmDevice {
  private static final int NAME = 256;

  private final PretendingDevice device;
  private final boolean memoryIsOurs;
  private final String description;
  private final String uuid;

  /** The primary context; 0 if there is none yet. */
  private long context;

  private GpuDirect gpu = GpuDirect.none();

  private WarmDevice(
      PretendingDevice device, boolean memoryIsOurs, String description, String uuid) {
    this.uuid = uuid;
    this.device = device;
    this.memoryIsOurs = memoryIsOurs;
    this.description = description;
  }

  /**
   * Opens a device.
   *
   * @param memoryIsOurs whether a device pointer is a pointer of this process
   * @param makesContext whether the first GPU gets its primary context at once
   * @throws ServerException if there is no GPU or the driver fails, with its result
   */
  public static WarmDevice open(CudaDevice device, boolean memoryIsOurs, boolean makesContext)
      throws ServerException {
    try (Scratch scratch = new Scratch(NAME)) {
      long out = scratch.address();
      check(device.cuInit(0), "start the CUDA driver (cuInit)");
      check(device.cuDeviceGetCount(out), "get the number of GPUs");
      int count = Memory.getInt(out);
      if (count == 0) {
        throw new ServerException(
            "the CUDA driver shows no GPU: check nvidia-smi, the device's index and CUDA_VISIBLE_DEVICES");
      }
      check(device.cuDeviceGetName(out, NAME, 0), "get the name of the GPU");
      String name = Memory.string(out, NAME);
      WarmDevice opened =
          new WarmDevice(
              new PretendingDevice(device),
              memoryIsOurs,
              count + " x " + name,
              count == 1 ? uuid(device, out) : "");
      if (makesContext) {
        check(opened.makeContext(), "create a context on " + name);
      }
      return opened;
    }
  }

  private int makeContext() {
    try (Scratch made = new Scratch(Long.BYTES)) {
      int result = device.cuDevicePrimaryCtxRetain(made.address(), 0);
      context = result == CudaResult.SUCCESS ? Memory.getLong(made.address()) : 0;
      return result;
    }
  }

  /** Returns the name of the first GPU; empty if it does not tell. */
  private static String uuid(CudaDevice device, long out) {
    return device.cuDeviceGetUuid(out, 0) == CudaResult.SUCCESS
        ? "GPU-" + new UUID(big(out), big(out + Long.BYTES))
        : "";
  }

  private static long big(long address) {
    return Long.reverseBytes(Memory.getLong(address));
  }

  private static void check(int result, String what) throws ServerException {
    if (result != CudaResult.SUCCESS) {
      String hint =
          switch (result) {
            case CudaResult.NO_DEVICE -> "no GPU exists or is visible to this process";
            case CudaResult.OUT_OF_MEMORY -> "its memory is used up; end other programs on it";
            case CudaResult.NOT_SUPPORTED -> "the driver lacks the function";
            default -> "see nvidia-smi and the kernel's log";
          };
      throw new ServerException("cannot " + what + ": CUresult " + result + ", " + hint);
    }
  }

  /** Returns the GPU as NVML names it; empty if the device has several. */
  public String uuid() {
    return uuid;
  }

  /** Returns a description of the device, for the log. */
  public String description() {
    return description;
  }

  /**
   * Executes common calls until a client connects, so that the JIT compiler has compiled their code
   * by then. Does nothing without a context, which these calls need.
   */
  public void warmUp(int spinMicros, BooleanSupplier goOn) {
    if (context != 0) {
      new WarmUp(device, spinMicros, goOn).run();
    }
  }

  /** Finds out whether UCX can access the first GPU's memory, before the memory is used. */
  void findGpuDirect(GpuDirect.Setting setting) {
    if (context != 0 || makeContext() == CudaResult.SUCCESS) {
      gpu = GpuDirect.find(device, context, setting, Ucx::graft_ucx_use_gpu);
    }
  }

  /** Enables or disables GPUDirect RDMA, depending on what UCX has connected by. */
  void settleGpuDirect(boolean overAdapter) {
    gpu = gpu.connected(overAdapter);
  }

  /** Begins the worker's session. */
  public RecordHandler session(Channel channel, SessionTerms terms) {
    return new Session(device, channel, terms, context == 0 ? 0 : 1, memoryIsOurs, gpu);
  }
}
