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
import java.util.function.BooleanSupplier;

/**
 * A device that is open, with the primary context of its first GPU made ahead, which is what takes
 * time.
 */
public final class WarmDevice {
  private static final int NAME = 256;

  private final PretendingDevice device;
  private final boolean memoryIsOurs;
  private final String description;
  private final long context;
  private GpuDirect gpu = GpuDirect.none();

  private WarmDevice(
      PretendingDevice device, boolean memoryIsOurs, String description, long context) {
    this.device = device;
    this.context = context;
    this.memoryIsOurs = memoryIsOurs;
    this.description = description;
  }

  /**
   * Opens a device.
   *
   * @param memoryIsOurs whether a pointer of the device is one of this process
   * @throws ServerException when it has no GPU or refuses, with its answer
   */
  public static WarmDevice open(CudaDevice device, boolean memoryIsOurs) throws ServerException {
    try (Scratch scratch = new Scratch(NAME)) {
      long out = scratch.address();
      check(device.cuInit(0), "start the CUDA driver (cuInit)");
      check(device.cuDeviceGetCount(out), "count the GPUs");
      int count = Memory.getInt(out);
      if (count == 0) {
        throw new ServerException(
            "the CUDA driver shows no GPU: check nvidia-smi, the device's index and CUDA_VISIBLE_DEVICES");
      }
      check(device.cuDeviceGetName(out, NAME, 0), "ask for the GPU's name");
      String name = Memory.string(out, NAME);
      check(device.cuDevicePrimaryCtxRetain(out, 0), "make a context on " + name);
      return new WarmDevice(
          new PretendingDevice(device), memoryIsOurs, count + " x " + name, Memory.getLong(out));
    }
  }

  private static void check(int result, String what) throws ServerException {
    if (result != CudaResult.SUCCESS) {
      String hint =
          switch (result) {
            case CudaResult.NO_DEVICE -> "no GPU is there or visible to this process";
            case CudaResult.OUT_OF_MEMORY -> "its memory is used up; end other programs on it";
            case CudaResult.NOT_SUPPORTED -> "the driver lacks the function";
            default -> "see nvidia-smi and the kernel's log";
          };
      throw new ServerException("cannot " + what + ": CUresult " + result + ", " + hint);
    }
  }

  /** What was opened, for the log. */
  public String description() {
    return description;
  }

  /** Executes common calls until a client comes, so that they are compiled by then. */
  public void warmUp(int spinMicros, BooleanSupplier goOn) {
    new WarmUp(device, spinMicros, goOn).run();
  }

  /** Finds out what UCX can do with the first GPU's memory, before it is used. */
  void findGpuDirect(GpuDirect.Setting setting) {
    gpu = GpuDirect.find(device, context, setting, Ucx::graft_ucx_use_gpu);
  }

  /** Makes that so or not, as UCX has connected. */
  void settleGpuDirect(boolean overAdapter) {
    gpu = gpu.connected(overAdapter);
  }

  /** Begins the worker's session. */
  public RecordHandler session(Channel channel, SessionTerms terms) {
    return new Session(device, channel, terms, 1, memoryIsOurs, gpu);
  }
}
