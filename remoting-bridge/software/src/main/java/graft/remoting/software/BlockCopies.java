package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.Extent;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.CudaArray;
import graft.remoting.software.object.Handles;

/** Copies in two and three dimensions, by the descriptors of a program. */
final class BlockCopies {
  private final Handles handles;
  private final Ranges ranges;

  BlockCopies(Handles handles, Ranges ranges) {
    this.handles = handles;
    this.ranges = ranges;
  }

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
      CudaArray a = handles.get(array, CudaArray.class);
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
      ranges.checkDevice(start, bytes);
    } else {
      ranges.checkAny(start, bytes);
    }
    return new Side(start, rowPitch, slice, bytes, !ranges.isDevice(start, 1));
  }

  private static long[] longs(long address, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = UNSAFE.getLong(address + 8L * i);
    }
    return values;
  }

  /** A copy that is ready to run, and whether pageable memory takes part. */
  record BlockCopy(Runnable body, boolean pageable) {}

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
        ranges.onlyWhileKnown(
            from.address(), from.bytes(), ranges.onlyWhileKnown(to.address(), to.bytes(), body)),
        from.host() || to.host());
  }

  /** Reads CUDA_MEMCPY2D. */
  BlockCopy copy2D(long p) {
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
  BlockCopy copy3D(long p) {
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
}
