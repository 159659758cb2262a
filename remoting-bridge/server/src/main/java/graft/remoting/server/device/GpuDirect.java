package graft.remoting.server.device;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether UCX moves bulk data between the wire and the GPU's memory by itself (GPUDirect RDMA),
 * found once, before a session's first connection: the GPU has to say that others may reach its
 * memory, UCX has to know CUDA, and its adapters have to take a chunk of that memory. For the first
 * GPU's primary context alone, which nearly all programs use: UCX 1.13 knows one context a thread.
 *
 * <p>What others write is there for all work that the CPU queues afterwards, as far as the GPU
 * keeps writes in order, and else after a flush (NVIDIA, "GPUDirect RDMA", on memory ordering).
 */
public final class GpuDirect {
  private static final Logger LOG = LoggerFactory.getLogger(GpuDirect.class);

  /** The setting, in the server's environment. */
  public static final String VARIABLE = "GRAFT_GPUDIRECT";

  // CUdevice_attribute, CUpointer_attribute and what they answer: driver API reference.
  private static final int RDMA_SUPPORTED = 116;
  private static final int FLUSH_OPTIONS = 117;
  private static final int WRITES_ORDERING = 118;
  private static final int FLUSHES_FOR_HOST = 1;
  private static final int TO_OWNER = 100;
  private static final int POINTER_CONTEXT = 1;
  private static final int POINTER_SYNC_MEMOPS = 6;
  private static final int POINTER_RDMA_CAPABLE = 15;

  private static final int TRIAL = 64 << 10;
  private static final int REASON = 512;

  private final CudaDevice device;
  private final long context;
  private final boolean byAdapter;
  private final boolean flushes;
  private boolean isUnflushed;

  private GpuDirect(CudaDevice device, long context, boolean byAdapter, boolean flushes) {
    this.device = device;
    this.context = context;
    this.byAdapter = byAdapter;
    this.flushes = flushes;
  }

  /** What the server's owner wants. */
  public enum Setting {
    /** Where the adapters have it. */
    AUTO,
    /** By whatever UCX has for CUDA, which may be slower than pinned buffers: for trials. */
    ON,
    OFF;

    /** Reads it; null or empty is the default. */
    public static Setting parse(String text) throws ServerException {
      if (text == null || text.isEmpty()) {
        return AUTO;
      }
      for (Setting setting : values()) {
        if (setting.name().toLowerCase(Locale.ROOT).equals(text)) {
          return setting;
        }
      }
      throw new ServerException(VARIABLE + "=" + text + ": choose auto, on or off");
    }
  }

  /** What UCX finds, see {@code graft_ucx_use_gpu}. */
  public interface Trial {
    /** Whether it can move that memory's data; a reason if not. */
    byte run(long memory, long bytes, byte anyhow, long reason, long size);
  }

  /** There is no such way. */
  public static GpuDirect none() {
    return new GpuDirect(null, 0, false, false);
  }

  /**
   * Finds out whether it can be; the log says why not, and {@link #connected} says that it is.
   *
   * @param context the first GPU's primary context
   */
  public static GpuDirect find(CudaDevice device, long context, Setting setting, Trial ucx) {
    if (setting == Setting.OFF) {
      LOG.info("GPUDirect RDMA: not used, as {}=off says", VARIABLE);
      return none();
    }
    boolean byAdapter = setting == Setting.AUTO;
    int ordering = attribute(device, WRITES_ORDERING);
    boolean canFlush = (attribute(device, FLUSH_OPTIONS) & FLUSHES_FOR_HOST) != 0;
    String reason;
    if (byAdapter && attribute(device, RDMA_SUPPORTED) != 1) {
      reason = "the driver says that this GPU has no GPUDirect RDMA";
    } else if (byAdapter && ordering < TO_OWNER && !canFlush) {
      reason = "this GPU neither keeps what adapters write in order, nor can be told to";
    } else {
      reason = trial(device, context, !byAdapter, ucx);
    }
    if (!reason.isEmpty()) {
      String line = "GPUDirect RDMA: not used: " + reason;
      if (byAdapter) {
        LOG.info(line);
      } else {
        LOG.warn(line);
      }
      return none();
    }
    return new GpuDirect(device, context, byAdapter, ordering < TO_OWNER && canFlush);
  }

  /**
   * What is left of it now that a client is connected: one without an adapter would have its data
   * copied by UCX, which is slower than pinned buffers.
   */
  public GpuDirect connected(boolean overAdapter) {
    if (!isThere()) {
      return this;
    }
    if (byAdapter && !overAdapter) {
      LOG.info("GPUDirect RDMA: not used: the client's connection goes over no adapter");
      return none();
    }
    LOG.info(
        byAdapter
            ? "GPUDirect RDMA: bulk data goes straight to the GPU"
            : "GPUDirect RDMA: on for trial, UCX moves bulk data to the GPU by what it has");
    return this;
  }

  private static int attribute(CudaDevice device, int attribute) {
    try (Scratch value = new Scratch(4)) {
      return device.cuDeviceGetAttribute(value.address(), attribute, 0) == CudaResult.SUCCESS
          ? Memory.getInt(value.address())
          : 0;
    }
  }

  /** UCX's reason why not; empty if it can. */
  private static String trial(CudaDevice device, long context, boolean anyhow, Trial ucx) {
    device.cuCtxSetCurrent(context);
    try (Scratch reason = new Scratch(REASON)) {
      int allocated = device.cuMemAlloc_v2(reason.address(), TRIAL);
      if (allocated != CudaResult.SUCCESS) {
        return "no memory of the GPU to try it with: CUresult " + allocated;
      }
      long memory = Memory.getLong(reason.address());
      byte can = ucx.run(memory, TRIAL, (byte) (anyhow ? 1 : 0), reason.address(), REASON);
      device.cuMemFree_v2(memory);
      return can == 0 ? HandshakeMessages.text(reason.bytes(0, REASON)) : "";
    } finally {
      device.cuCtxSetCurrent(0);
    }
  }

  public boolean isThere() {
    return context != 0;
  }

  /** Lets the calling thread call UCX with memory of the GPU. */
  public void enter() {
    device.cuCtxSetCurrent(context);
  }

  /**
   * Whether an allocation is one that UCX reaches, with the calling thread in its context. From
   * then on what the driver does with it at once is over when the call returns, as NVIDIA asks of
   * all memory that others reach.
   */
  public boolean reaches(long address) {
    try (Scratch value = new Scratch(8)) {
      return isThere()
          && device.cuCtxGetCurrent(value.address()) == CudaResult.SUCCESS
          && Memory.getLong(value.address()) == context
          && device.cuPointerGetAttribute(value.address(), POINTER_CONTEXT, address)
              == CudaResult.SUCCESS
          && Memory.getLong(value.address()) == context
          && (!byAdapter || isCapable(address))
          && setSyncMemops(address) == CudaResult.SUCCESS;
    }
  }

  private boolean isCapable(long address) {
    try (Scratch value = new Scratch(4)) {
      return device.cuPointerGetAttribute(value.address(), POINTER_RDMA_CAPABLE, address)
              == CudaResult.SUCCESS
          && Memory.getInt(value.address()) == 1;
    }
  }

  private int setSyncMemops(long address) {
    try (Scratch value = new Scratch(4)) {
      Memory.putInt(value.address(), 1);
      return device.cuPointerSetAttribute(value.address(), POINTER_SYNC_MEMOPS, address);
    }
  }

  /** What UCX has written is there before what it writes next. */
  public void order() throws IOException {
    int result = flushes ? device.cuFlushGPUDirectRDMAWrites(0, TO_OWNER) : CudaResult.SUCCESS;
    if (result != CudaResult.SUCCESS) {
      throw new IOException("cuFlushGPUDirectRDMAWrites: CUresult " + result);
    }
  }

  /** UCX will have written to the GPU's memory. For the executor. */
  public void writes() {
    isUnflushed = flushes;
  }

  /** What UCX has written is there for all that comes now. For the executor, in its context. */
  public int flush() {
    if (!isUnflushed) {
      return CudaResult.SUCCESS;
    }
    isUnflushed = false;
    return device.cuFlushGPUDirectRDMAWrites(0, TO_OWNER);
  }
}
