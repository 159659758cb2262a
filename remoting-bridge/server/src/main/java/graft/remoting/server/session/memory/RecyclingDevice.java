package graft.remoting.server.session.memory;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Extent;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * Gives the session's next {@code cuMemAlloc} of the same size the memory that {@code cuMemFree}
 * freed just before, which costs the driver far less than to free and to allocate it. Memory is
 * kept for that only while the executor has calls to execute: {@link #release} frees it before the
 * executor sleeps. Until then nothing shows that it is not free: a question how much memory is
 * free, a question about an address in it, and every other function that allocates, free it first.
 * It is zero when it is given again, as all that the driver gives.
 *
 * <p>Only the executor uses this class, except for calls that it passes on.
 */
public final class RecyclingDevice extends ForwardingDevice {
  /** The most bytes that are kept. */
  private static final long MOST_BYTES = 256L << 20;

  /** The most blocks that are kept. */
  private static final int MOST_BLOCKS = 16;

  /**
   * The least free memory of the device with which anything is kept, and the part of all memory
   * that is enough on a small one: the driver allocates for code and for running kernels too, which
   * fails without a chance to release what is kept.
   */
  private static final long SPARE = 1L << 30;

  private static final int SPARE_PART = 4;

  /** How many nanoseconds an answer about the device's free memory is believed. */
  private static final long BELIEVED = 10_000_000;

  /** The most blocks of which the sizes are known. */
  private static final int MOST_GIVEN = 4096;

  private record Block(long address, long bytes, long context) {}

  private final BooleanSupplier mayErase;
  private final LongPredicate fits;
  private final LongSupplier nanos;
  private final Erasure erasure;

  /** The blocks that may be kept when they are freed, by their addresses. */
  private final Map<Long, Block> given = new HashMap<>();

  /** The blocks that are kept, the one that was freed last first. */
  private final Deque<Block> kept = new ArrayDeque<>();

  private long keptBytes;
  private boolean isAmple;
  private long askedAt;
  private long askedIn;

  /**
   * Creates the device of a session.
   *
   * @param mayErase whether memory may be erased, and all work that the session has queued is over
   *     and none is captured; {@code cuMemFree} waits for that work, and memory of later work must
   *     not be that of earlier work that still runs
   * @param fits whether so many bytes more are within the session's limits, which what is kept must
   *     not exceed
   * @param nanos the time
   */
  public RecyclingDevice(
      CudaDevice next, BooleanSupplier mayErase, LongPredicate fits, LongSupplier nanos) {
    super(next);
    this.mayErase = mayErase;
    this.fits = fits;
    this.nanos = nanos;
    this.erasure = new Erasure(next, nanos);
  }

  /** Frees the memory that is kept. */
  public void release() {
    while (!kept.isEmpty()) {
      next.cuMemFree_v2(kept.removeLast().address());
    }
    keptBytes = 0;
  }

  @Override
  public int cuMemAlloc_v2(long dptr, long bytes) {
    if (dptr == 0 || bytes <= 0 || bytes > MOST_BYTES) {
      release();
      return next.cuMemAlloc_v2(dptr, bytes);
    }
    long context = DeviceState.currentContext(next);
    if (!kept.isEmpty()) {
      Block again = take(bytes, context);
      if (again != null) {
        Memory.putLong(dptr, again.address());
        given.put(again.address(), again);
        return CudaResult.SUCCESS;
      }
      if (!fits.test(keptBytes + bytes)) {
        release();
      }
    }
    int code = next.cuMemAlloc_v2(dptr, bytes);
    if (code == CudaResult.OUT_OF_MEMORY && !kept.isEmpty()) {
      release();
      code = next.cuMemAlloc_v2(dptr, bytes);
    }
    if (code == CudaResult.SUCCESS && context != 0 && given.size() < MOST_GIVEN) {
      long address = Memory.getLong(dptr);
      given.put(address, new Block(address, bytes, context));
    }
    return code;
  }

  private Block take(long bytes, long context) {
    Iterator<Block> blocks = kept.iterator();
    while (blocks.hasNext()) {
      Block block = blocks.next();
      if (block.bytes() == bytes && block.context() == context) {
        if (!isWell(context)) {
          return null;
        }
        blocks.remove();
        keptBytes -= bytes;
        return block;
      }
    }
    return null;
  }

  /**
   * Returns whether the current context has no error that the driver would answer, and all of its
   * memory that is kept is erased.
   */
  private boolean isWell(long context) {
    if (DeviceState.mayCapture(next, 0)) {
      return false;
    }
    int code = next.cuStreamQuery(0);
    return (code == CudaResult.SUCCESS || code == CudaResult.NOT_READY) && erasure.await(context);
  }

  @Override
  public int cuMemFree_v2(long dptr) {
    Block block = given.remove(dptr);
    if (block == null || !mayKeep(block) || !erasure.begin(block.context(), dptr, block.bytes())) {
      return next.cuMemFree_v2(dptr);
    }
    kept.addFirst(block);
    keptBytes += block.bytes();
    return CudaResult.SUCCESS;
  }

  private boolean mayKeep(Block block) {
    return keptBytes + block.bytes() <= MOST_BYTES
        && kept.size() < MOST_BLOCKS
        && DeviceState.currentContext(next) == block.context()
        && fits.test(keptBytes) // the block itself is still counted
        && hasAmpleMemory(block.context())
        && mayErase.getAsBoolean();
  }

  private boolean hasAmpleMemory(long context) {
    long now = nanos.getAsLong();
    if (context != askedIn || now - askedAt > BELIEVED) {
      try (Scratch info = new Scratch(16)) {
        isAmple =
            next.cuMemGetInfo_v2(info.address(), info.address() + 8) == CudaResult.SUCCESS
                && Memory.getLong(info.address())
                    >= Math.min(SPARE, Memory.getLong(info.address() + 8) / SPARE_PART);
      }
      askedIn = context;
      askedAt = now;
    }
    return isAmple;
  }

  // ---- what would show that memory is kept

  @Override
  public int cuMemGetInfo_v2(long free, long total) {
    release();
    return next.cuMemGetInfo_v2(free, total);
  }

  @Override
  public int cuPointerGetAttribute(long data, int attribute, long ptr) {
    for (Block block : kept) {
      if (Extent.fits(ptr - block.address(), 1, block.bytes())) {
        release();
        break;
      }
    }
    return next.cuPointerGetAttribute(data, attribute, ptr);
  }

  @Override
  public int cuMemAllocPitch_v2(long dptr, long pitch, long width, long height, int elementBytes) {
    release();
    return next.cuMemAllocPitch_v2(dptr, pitch, width, height, elementBytes);
  }

  @Override
  public int cuMemAllocAsync(long dptr, long bytes, long stream) {
    release();
    return next.cuMemAllocAsync(dptr, bytes, stream);
  }

  @Override
  public int cuMemAllocFromPoolAsync(long dptr, long bytes, long pool, long stream) {
    release();
    return next.cuMemAllocFromPoolAsync(dptr, bytes, pool, stream);
  }

  @Override
  public int cuMemCreate(long handle, long bytes, long properties, long flags) {
    release();
    return next.cuMemCreate(handle, bytes, properties, flags);
  }

  @Override
  public int cuArrayCreate_v2(long array, long descriptor) {
    release();
    return next.cuArrayCreate_v2(array, descriptor);
  }

  @Override
  public int cuArray3DCreate_v2(long array, long descriptor) {
    release();
    return next.cuArray3DCreate_v2(array, descriptor);
  }

  @Override
  public int cuMipmappedArrayCreate(long array, long descriptor, int levels) {
    release();
    return next.cuMipmappedArrayCreate(array, descriptor, levels);
  }

  // ---- memory that is freed otherwise, is no longer the session's alone, or whose context ends

  @Override
  public int cuMemFreeAsync(long dptr, long stream) {
    given.remove(dptr);
    return next.cuMemFreeAsync(dptr, stream);
  }

  @Override
  public int cuIpcGetMemHandle(long handle, long dptr) {
    given.clear();
    return next.cuIpcGetMemHandle(handle, dptr);
  }

  @Override
  public int cuPointerSetAttribute(long value, int attribute, long ptr) {
    given.clear();
    return next.cuPointerSetAttribute(value, attribute, ptr);
  }

  private void contextEnds() {
    release();
    given.clear();
    erasure.end();
  }

  @Override
  public int cuCtxDestroy_v2(long context) {
    contextEnds();
    return next.cuCtxDestroy_v2(context);
  }

  @Override
  public int cuDevicePrimaryCtxRelease_v2(int dev) {
    contextEnds();
    return next.cuDevicePrimaryCtxRelease_v2(dev);
  }

  @Override
  public int cuDevicePrimaryCtxReset_v2(int dev) {
    contextEnds();
    return next.cuDevicePrimaryCtxReset_v2(dev);
  }
}
