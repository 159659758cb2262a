package graft.remoting.software.driver;

import graft.remoting.device.Extent;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.memory.Native;

/** CUDA driver API: the copies and fills of "Memory Management". */
abstract class CopyFunctions extends VirtualMemoryFunctions {
  /**
   * Copies from pageable memory up to this size are taken at once, so that the call need not wait.
   */
  private static final int STAGED = 64 << 10;

  CopyFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  /** Whether it is memory of any device: a pointer of the unified address space says of which. */
  private boolean isDevice(long address, long bytes) {
    return memory().contains(address, bytes)
        || gpus().stream()
            .anyMatch(gpu -> gpu.reserves(address) && gpu.memory().contains(address, bytes));
  }

  /** Whether kernels of some device may access all of a range, its memory or registered host's. */
  private boolean isKnown(long address, long bytes) {
    return gpus().stream().anyMatch(gpu -> gpu.memory().contains(address, bytes));
  }

  /**
   * Work on memory that CUDA knows must find it still there: a graph may run it after the memory
   * was unmapped or unregistered, when something else of this process may lie there.
   */
  protected final Runnable onlyWhileKnown(long address, long bytes, Runnable body) {
    if (bytes == 0 || !isKnown(address, bytes)) {
      return body;
    }
    return () -> {
      if (!isKnown(address, bytes)) {
        throw new DeviceFault(
            DeviceFault.ILLEGAL_ADDRESS,
            bytes + " bytes at 0x" + Long.toHexString(address) + " are no longer there");
      }
      body.run();
    };
  }

  private Runnable copyBody(long to, long from, long bytes) {
    return onlyWhileKnown(
        to, bytes, onlyWhileKnown(from, bytes, () -> Native.copy(from, to, bytes)));
  }

  private boolean isReserved(long address) {
    return gpus().stream().anyMatch(gpu -> gpu.reserves(address));
  }

  private void checkDevice(long address, long bytes) {
    require(
        bytes == 0 || isDevice(address, bytes),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are no device memory");
  }

  /** In the unified address space a host pointer is as good as a device pointer. */
  private void checkAny(long address, long bytes) {
    require(
        bytes == 0 || address != 0 && (!isReserved(address) || isDevice(address, bytes)),
        bytes + " bytes at 0x" + Long.toHexString(address) + " are outside an allocation");
  }

  private int copy(long to, long from, long bytes, boolean toDevice, boolean fromDevice) {
    return call(
        () -> {
          check(to, from, bytes, toDevice, fromDevice);
          if (isReserved(to) && isReserved(from)) {
            // Between device memory the host waits for nothing ("API synchronization behavior").
            submit(context().legacy(), GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          } else {
            runNow(GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          }
        });
  }

  private void check(long to, long from, long bytes, boolean toDevice, boolean fromDevice) {
    require(bytes >= 0, "negative size");
    if (toDevice) {
      checkDevice(to, bytes);
    } else {
      checkAny(to, bytes);
    }
    if (fromDevice) {
      checkDevice(from, bytes);
    } else {
      checkAny(from, bytes);
    }
  }

  private int copyAsync(
      long to, long from, long bytes, boolean toDevice, boolean fromDevice, long stream) {
    return call(
        () -> {
          Stream s = stream(stream);
          check(to, from, bytes, toDevice, fromDevice);
          if (s.capture() != null || bytes == 0) {
            submit(s, GraphNode.Type.MEMCPY, copyBody(to, from, bytes));
          } else if (!isDevice(to, bytes)) {
            // To pageable memory: the call returns when the copy is done (CUDA driver API, "API
            // synchronization behavior").
            s.context().runInOrder(s, () -> Native.copy(from, to, bytes));
            checkError(s.context());
          } else if (isDevice(from, bytes)) {
            submit(s, GraphNode.Type.MEMCPY, () -> Native.copy(from, to, bytes));
          } else if (bytes <= STAGED) {
            byte[] staged = Native.bytes(from, (int) bytes);
            submit(s, GraphNode.Type.MEMCPY, () -> Native.put(to, staged, staged.length));
          } else {
            s.context().runInOrder(s, () -> Native.copy(from, to, bytes));
            checkError(s.context());
          }
        });
  }

  @Override
  public int cuMemcpy(long to, long from, long bytes) {
    return copy(to, from, bytes, false, false);
  }

  @Override
  public int cuMemcpyAsync(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, false, false, stream);
  }

  @Override
  public int cuMemcpyHtoD_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, true, false);
  }

  @Override
  public int cuMemcpyHtoDAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, true, false, stream);
  }

  @Override
  public int cuMemcpyDtoH_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, false, true);
  }

  @Override
  public int cuMemcpyDtoHAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, false, true, stream);
  }

  @Override
  public int cuMemcpyDtoD_v2(long to, long from, long bytes) {
    return copy(to, from, bytes, true, true);
  }

  @Override
  public int cuMemcpyDtoDAsync_v2(long to, long from, long bytes, long stream) {
    return copyAsync(to, from, bytes, true, true, stream);
  }

  // ---- arrays

  private long arrayPart(long handle, long offset, long bytes) {
    CudaArray array = handles().get(handle, CudaArray.class);
    require(
        offset >= 0 && bytes >= 0 && bytes <= array.bytes() && offset <= array.bytes() - bytes,
        "outside the array");
    return array.address() + offset;
  }

  @Override
  public int cuMemcpyHtoA_v2(long array, long offset, long from, long bytes) {
    return call(() -> pass(copy(arrayPart(array, offset, bytes), from, bytes, true, false)));
  }

  @Override
  public int cuMemcpyHtoAAsync_v2(long array, long offset, long from, long bytes, long stream) {
    return call(
        () -> pass(copyAsync(arrayPart(array, offset, bytes), from, bytes, true, false, stream)));
  }

  @Override
  public int cuMemcpyAtoH_v2(long to, long array, long offset, long bytes) {
    return call(() -> pass(copy(to, arrayPart(array, offset, bytes), bytes, false, true)));
  }

  @Override
  public int cuMemcpyAtoHAsync_v2(long to, long array, long offset, long bytes, long stream) {
    return call(
        () -> pass(copyAsync(to, arrayPart(array, offset, bytes), bytes, false, true, stream)));
  }

  @Override
  public int cuMemcpyDtoA_v2(long array, long offset, long from, long bytes) {
    return call(() -> pass(copy(arrayPart(array, offset, bytes), from, bytes, true, true)));
  }

  @Override
  public int cuMemcpyAtoD_v2(long to, long array, long offset, long bytes) {
    return call(() -> pass(copy(to, arrayPart(array, offset, bytes), bytes, true, true)));
  }

  @Override
  public int cuMemcpyAtoA_v2(long to, long toOffset, long from, long fromOffset, long bytes) {
    return call(
        () ->
            pass(
                copy(
                    arrayPart(to, toOffset, bytes),
                    arrayPart(from, fromOffset, bytes),
                    bytes,
                    true,
                    true)));
  }

  /** Hands on the result of a call inside a call. */
  private static void pass(int result) {
    if (result != 0) {
      throw new CudaException(result, "copy failed");
    }
  }

  // ---- two and three dimensions

  /** One side of a copy: an address, and the distances from row to row and slice to slice. */
  private record Side(long address, long pitch, long slice, long bytes, boolean host) {}

  /**
   * Reads one side of CUDA_MEMCPY2D or CUDA_MEMCPY3D.
   *
   * @param type CUmemorytype: 1 host, 2 device, 3 array, 4 unified
   */
  private Side side(
      int type,
      long host,
      long device,
      long array,
      long[] origin,
      long pitch,
      long height,
      long[] extent) {
    if (type == 3) {
      CudaArray a = handles().get(array, CudaArray.class);
      require(
          Extent.fits(origin[0], extent[0], a.pitch())
              && Extent.fits(origin[1], extent[1], a.rows())
              && Extent.fits(origin[2], extent[2], a.slices()),
          "copy outside the array");
      long slice = a.pitch() * a.rows();
      return new Side(
          a.address() + origin[0] + origin[1] * a.pitch() + origin[2] * slice,
          a.pitch(),
          slice,
          Extent.box(extent[0], extent[1], extent[2], a.pitch(), slice),
          false);
    }
    require(type == 1 || type == 2 || type == 4, "there is no memory type " + type);
    long rowPitch = pitch == 0 ? Extent.plus(origin[0], extent[0]) : pitch;
    require(
        rowPitch >= extent[0] || extent[1] <= 1 && extent[2] <= 1, "pitch smaller than the width");
    long slice = Extent.times(rowPitch, height == 0 ? Extent.plus(origin[1], extent[1]) : height);
    long offset =
        Extent.plus(
            origin[0],
            Extent.plus(Extent.times(origin[1], rowPitch), Extent.times(origin[2], slice)));
    long bytes = Extent.box(extent[0], extent[1], extent[2], rowPitch, slice);
    require(offset >= 0 && bytes >= 0, "more than there are addresses");
    long start = (type == 1 ? host : device) + offset;
    if (type == 2) {
      checkDevice(start, bytes);
    } else {
      checkAny(start, bytes);
    }
    return new Side(start, rowPitch, slice, bytes, !isDevice(start, 1));
  }

  private static long[] longs(long address, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = UNSAFE.getLong(address + 8L * i);
    }
    return values;
  }

  /** A copy that is ready to run, and whether pageable memory takes part. */
  protected record BlockCopy(Runnable body, boolean pageable) {}

  private BlockCopy blockCopy(Side from, Side to, long[] extent) {
    Runnable body =
        () -> {
          for (long z = 0; extent[0] > 0 && z < extent[2]; z++) {
            for (long y = 0; y < extent[1]; y++) {
              Native.copy(
                  from.address() + z * from.slice() + y * from.pitch(),
                  to.address() + z * to.slice() + y * to.pitch(),
                  extent[0]);
            }
          }
        };
    return new BlockCopy(
        onlyWhileKnown(
            from.address(), from.bytes(), onlyWhileKnown(to.address(), to.bytes(), body)),
        from.host() || to.host());
  }

  /** Reads CUDA_MEMCPY2D. */
  private BlockCopy copy2D(long p) {
    require(p != 0, "no copy parameters");
    long[] extent = {UNSAFE.getLong(p + 112), UNSAFE.getLong(p + 120), 1};
    long[] from = {UNSAFE.getLong(p), UNSAFE.getLong(p + 8), 0};
    long[] to = {UNSAFE.getLong(p + 56), UNSAFE.getLong(p + 64), 0};
    return blockCopy(
        side(
            UNSAFE.getInt(p + 16),
            UNSAFE.getLong(p + 24),
            UNSAFE.getLong(p + 32),
            UNSAFE.getLong(p + 40),
            from,
            UNSAFE.getLong(p + 48),
            0,
            extent),
        side(
            UNSAFE.getInt(p + 72),
            UNSAFE.getLong(p + 80),
            UNSAFE.getLong(p + 88),
            UNSAFE.getLong(p + 96),
            to,
            UNSAFE.getLong(p + 104),
            0,
            extent),
        extent);
  }

  /** Reads CUDA_MEMCPY3D. */
  protected final BlockCopy copy3D(long p) {
    require(p != 0, "no copy parameters");
    long[] extent = longs(p + 176, 3);
    return blockCopy(
        side(
            UNSAFE.getInt(p + 32),
            UNSAFE.getLong(p + 40),
            UNSAFE.getLong(p + 48),
            UNSAFE.getLong(p + 56),
            longs(p, 3),
            UNSAFE.getLong(p + 72),
            UNSAFE.getLong(p + 80),
            extent),
        side(
            UNSAFE.getInt(p + 120),
            UNSAFE.getLong(p + 128),
            UNSAFE.getLong(p + 136),
            UNSAFE.getLong(p + 144),
            longs(p + 88, 3),
            UNSAFE.getLong(p + 160),
            UNSAFE.getLong(p + 168),
            extent),
        extent);
  }

  private void runAsync(BlockCopy copy, Stream s) {
    if (copy.pageable() && s.capture() == null) {
      s.context().runInOrder(s, copy.body());
      checkError(s.context());
    } else {
      submit(s, GraphNode.Type.MEMCPY, copy.body());
    }
  }

  @Override
  public int cuMemcpy2D_v2(long parameters) {
    return call(() -> runNow(GraphNode.Type.MEMCPY, copy2D(parameters).body()));
  }

  @Override
  public int cuMemcpy2DUnaligned_v2(long parameters) {
    return cuMemcpy2D_v2(parameters);
  }

  @Override
  public int cuMemcpy2DAsync_v2(long parameters, long stream) {
    return call(() -> runAsync(copy2D(parameters), stream(stream)));
  }

  @Override
  public int cuMemcpy3D_v2(long parameters) {
    return call(() -> runNow(GraphNode.Type.MEMCPY, copy3D(parameters).body()));
  }

  @Override
  public int cuMemcpy3DAsync_v2(long parameters, long stream) {
    return call(() -> runAsync(copy3D(parameters), stream(stream)));
  }

  // ---- fills

  /** Fills rows with a value of 1, 2 or 4 bytes. */
  protected final Runnable fill(
      long address, long pitch, int value, int size, long width, long height) {
    require((address & (size - 1)) == 0, "address not aligned to the element");
    long bytes = Extent.rows(pitch, Extent.times(width, size), height);
    require(bytes >= 0, "more than there are addresses");
    checkDevice(address, bytes);
    if (bytes == 0) {
      return () -> {};
    }
    return onlyWhileKnown(
        address,
        bytes,
        () -> {
          for (long y = 0; y < height; y++) {
            fillRow(address + y * pitch, value, size, width);
          }
        });
  }

  private static void fillRow(long address, int value, int size, long width) {
    if (size == 1) {
      UNSAFE.setMemory(address, width, (byte) value);
      return;
    }
    for (long x = 0; x < width; x++) {
      if (size == 2) {
        UNSAFE.putShort(address + 2 * x, (short) value);
      } else {
        UNSAFE.putInt(address + 4 * x, value);
      }
    }
  }

  private int set(long address, long pitch, int value, int size, long width, long height) {
    return call(
        () -> {
          Runnable body = fill(address, pitch, value, size, width, height);
          if (isReserved(address)) {
            submit(context().legacy(), GraphNode.Type.MEMSET, body);
          } else {
            // Host memory: the call returns when it is filled ("API synchronization behavior").
            runNow(GraphNode.Type.MEMSET, body);
          }
        });
  }

  private int setAsync(
      long address, long pitch, int value, int size, long width, long height, long stream) {
    return call(
        () -> {
          Stream s = stream(stream);
          submit(s, GraphNode.Type.MEMSET, fill(address, pitch, value, size, width, height));
        });
  }

  @Override
  public int cuMemsetD8_v2(long address, int value, long count) {
    return set(address, 0, value, 1, count, 1);
  }

  @Override
  public int cuMemsetD16_v2(long address, int value, long count) {
    return set(address, 0, value, 2, count, 1);
  }

  @Override
  public int cuMemsetD32_v2(long address, int value, long count) {
    return set(address, 0, value, 4, count, 1);
  }

  @Override
  public int cuMemsetD8Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 1, count, 1, stream);
  }

  @Override
  public int cuMemsetD16Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 2, count, 1, stream);
  }

  @Override
  public int cuMemsetD32Async(long address, int value, long count, long stream) {
    return setAsync(address, 0, value, 4, count, 1, stream);
  }

  @Override
  public int cuMemsetD2D8_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 1, width, height);
  }

  @Override
  public int cuMemsetD2D16_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 2, width, height);
  }

  @Override
  public int cuMemsetD2D32_v2(long address, long pitch, int value, long width, long height) {
    return set(address, pitch, value, 4, width, height);
  }

  @Override
  public int cuMemsetD2D8Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 1, width, height, stream);
  }

  @Override
  public int cuMemsetD2D16Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 2, width, height, stream);
  }

  @Override
  public int cuMemsetD2D32Async(
      long address, long pitch, int value, long width, long height, long stream) {
    return setAsync(address, pitch, value, 4, width, height, stream);
  }
}
