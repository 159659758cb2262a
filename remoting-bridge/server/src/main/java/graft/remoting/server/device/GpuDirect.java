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
 * Decides whether UCX moves bulk data between the wire and the GPU's memory itself (GPUDirect
 * RDMA). The decision is made once, before a session's first connection: the GPU must allow access
 * by adapters, UCX must support CUDA, and its adapters must be able to access a chunk of GPU
 * memory. Only the first GPU's primary context is covered, because UCX 1.13 supports one context a
 * thread and nearly all programs use that one.
 *
 * <p>Data that an adapter writes is visible to all work which the CPU queues afterwards if the GPU
 * keeps writes in order, and otherwise after a flush (NVIDIA, "GPUDirect RDMA", on memory
 * ordering).
 */
public final class GpuDirect {
  private static final Logger LOG = LoggerFactory.getLogger(GpuDirect.class);

  /** The variable in the server's environment that holds the setting. */
  public static final String VARIABLE = "GRAFT_GPUDIRECT";

  // CUdevice_attribute and CUpointer_attribute, and their values: driver API reference.
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

  /** The setting of the server's owner. */
  public enum Setting {
    /** Used if the connection goes over an adapter that supports it. */
    AUTO,
    /**
     * Used by whatever means UCX has for CUDA, which may be slower than pinned buffers; for
     * experiments.
     */
    ON,
    OFF;

    /** Parses a setting; null or empty is the default. */
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

  /** Tries what UCX can do, see {@code graft_ucx_use_gpu}. */
  public interface Trial {
    /** Returns whether UCX can move that memory's data, and writes the reason if not. */
    byte run(long memory, long bytes, byte anyhow, long reason, long size);
  }

  /** Returns an object for sessions without GPUDirect RDMA. */
  public static GpuDirect none() {
    return new GpuDirect(null, 0, false, false);
  }

  /**
   * Finds out whether GPUDirect RDMA is possible. The log says why it is not; {@link #connected}
   * logs that it is.
   *
   * @param context the first GPU's primary context
   */
  public static GpuDirect find(CudaDevice device, long context, Setting setting, Trial ucx) {
    if (setting == Setting.OFF) {
      LOG.info("GPUDirect RDMA: not used: {}=off", VARIABLE);
      return none();
    }
    boolean byAdapter = setting == Setting.AUTO;
    int ordering = attribute(device, WRITES_ORDERING);
    boolean canFlush = (attribute(device, FLUSH_OPTIONS) & FLUSHES_FOR_HOST) != 0;
    String reason;
    if (byAdapter && attribute(device, RDMA_SUPPORTED) != 1) {
      reason = "the driver says that this GPU has no GPUDirect RDMA";
    } else if (byAdapter && ordering < TO_OWNER && !canFlush) {
      reason = "this GPU neither keeps adapters' writes in order nor supports flushing them";
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
   * Restricts GPUDirect RDMA to what the client's connection allows: without an adapter, UCX would
   * copy the data itself, which is slower than pinned buffers.
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
            : "GPUDirect RDMA: switched on without an adapter; UCX copies bulk data to the GPU's memory");
    return this;
  }

  private static int attribute(CudaDevice device, int attribute) {
    try (Scratch value = new Scratch(4)) {
      return device.cuDeviceGetAttribute(value.address(), attribute, 0) == CudaResult.SUCCESS
          ? Memory.getInt(value.address())
          : 0;
    }
  }

  /** Returns UCX's reason for not being able to, empty if it is able to. */
  private static String trial(CudaDevice device, long context, boolean anyhow, Trial ucx) {
    device.cuCtxSetCurrent(context);
    try (Scratch reason = new Scratch(REASON)) {
      int allocated = device.cuMemAlloc_v2(reason.address(), TRIAL);
      if (allocated != CudaResult.SUCCESS) {
        return "cannot allocate GPU memory for the test: CUresult " + allocated;
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

  /** Prepares the calling thread for calling UCX with memory of the GPU. */
  public void enter() {
    device.cuCtxSetCurrent(context);
  }

  /**
   * Returns whether UCX can access an allocation from the calling thread's context. From then on,
   * synchronous operations of the driver on that memory have finished when their call returns,
   * which NVIDIA requires for memory that adapters access.
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

  /** Orders UCX's later writes after its earlier ones. */
  public void order() throws IOException {
    int result = flushes ? device.cuFlushGPUDirectRDMAWrites(0, TO_OWNER) : CudaResult.SUCCESS;
    if (result != CudaResult.SUCCESS) {
      throw new IOException("cuFlushGPUDirectRDMAWrites: CUresult " + result);
    }
  }

  /** Notes that UCX is about to write to the GPU's memory. Only the executor calls this. */
  public void writes() {
    isUnflushed = flushes;
  }

  /**
   * Makes what UCX has written visible to all work from now on. Only the executor calls this, in
   * its current context.
   */
  public int flush() {
    if (!isUnflushed) {
      return CudaResult.SUCCESS;
    }
    isUnflushed = false;
    return device.cuFlushGPUDirectRDMAWrites(0, TO_OWNER);
  }
}
