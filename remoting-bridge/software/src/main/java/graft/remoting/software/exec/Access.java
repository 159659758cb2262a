package graft.remoting.software.exec;

import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.Native;
import sun.misc.Unsafe;

/**
 * Memory accesses of kernels. The checks return the real address or throw; the loads and stores
 * that follow do not check.
 */
public final class Access {
  private static final Unsafe UNSAFE = Native.UNSAFE;

  private Access() {}

  /** Checks an address in global memory. */
  public static long global(ThreadBlock b, long address, int bytes) {
    long offset = address - b.base;
    long granule = offset >>> DeviceMemory.GRANULE_SHIFT;
    if (granule < b.granules
        && (address & (bytes - 1)) == 0
        && UNSAFE.getShort(b.table + (granule << 1))
            >= (offset & (DeviceMemory.GRANULE - 1)) + bytes) {
      return address;
    }
    return slowGlobal(b, address, bytes, -1);
  }

  /** An instruction that changes its allocation more often than this no longer searches for it. */
  private static final int LOOKS = 64;

  /**
   * Checks an address in global memory, and notes its allocation for the instruction that accesses
   * it.
   *
   * @param site the number of the instruction in the kernel
   */
  public static void window(ThreadBlock b, long address, int bytes, int site) {
    global(b, address, bytes);
    if (b.windowMisses[site]++ < LOOKS) {
      DeviceMemory.Allocation found = b.memory.find(address);
      if (found != null) {
        b.windowLow[site] = found.address();
        b.windowSize[site] = found.bytes() / bytes + Long.MIN_VALUE;
      }
    }
  }

  /** Larger strides and bases are not handled, because their products could overflow. */
  private static final long LARGEST_STRIDE = 1L << 40;

  private static final long LARGEST_BASE = 1L << 61;

  /** Returns the least value of {@code x·tid.x + y·tid.y + z·tid.z} over the threads of a block. */
  private static long least(ThreadBlock b, long x, long y, long z) {
    return Math.min(0, x * (b.ntidX - 1))
        + Math.min(0, y * (b.ntidY - 1))
        + Math.min(0, z * (b.ntidZ - 1));
  }

  private static long most(ThreadBlock b, long x, long y, long z) {
    return -least(b, -x, -y, -z);
  }

  private static boolean isSmall(long value, long limit) {
    return value < limit && value > -limit;
  }

  /**
   * Whether {@code base + x·tid.x + y·tid.y + z·tid.z} is in a range for all threads of a block.
   */
  public static boolean within(
      ThreadBlock b, long base, long x, long y, long z, long lowest, long highest) {
    return isSmall(base, LARGEST_BASE)
        && isSmall(x, LARGEST_STRIDE)
        && isSmall(y, LARGEST_STRIDE)
        && isSmall(z, LARGEST_STRIDE)
        && base + least(b, x, y, z) >= lowest
        && base + most(b, x, y, z) <= highest;
  }

  /**
   * Returns whether the accesses of all threads of a block at {@code base + x·tid.x + y·tid.y +
   * z·tid.z} are aligned and lie in one allocation.
   *
   * @param site the number of the instruction in the kernel
   */
  public static boolean spans(
      ThreadBlock b, long base, long x, long y, long z, int bytes, int site) {
    if (((base | x | y | z) & (bytes - 1)) != 0) {
      return false;
    }
    if (b.windowLow[site] == 0 || !spans(b, base, x, y, z, bytes, b.windowLow[site], site)) {
      DeviceMemory.Allocation found = b.memory.find(base);
      if (found == null) {
        return false;
      }
      b.windowLow[site] = found.address();
      b.windowSize[site] = found.bytes();
      return spans(b, base, x, y, z, bytes, found.address(), site);
    }
    return true;
  }

  private static boolean spans(
      ThreadBlock b, long base, long x, long y, long z, int bytes, long start, int site) {
    return within(b, base, x, y, z, start, start + b.windowSize[site] - bytes);
  }

  /** An address in the generic space: global, shared, local, constant or pinned host memory. */
  public static long generic(ThreadBlock b, long address, int bytes, int thread) {
    long offset = address - b.base;
    long granule = offset >>> DeviceMemory.GRANULE_SHIFT;
    if (granule < b.granules
        && (address & (bytes - 1)) == 0
        && UNSAFE.getShort(b.table + (granule << 1))
            >= (offset & (DeviceMemory.GRANULE - 1)) + bytes) {
      return address;
    }
    return slowGeneric(b, address, bytes, thread);
  }

  private static long slowGeneric(ThreadBlock b, long address, int bytes, int thread) {
    long shared = address - b.sharedBase;
    if (shared >= 0 && shared < b.sharedBytes) {
      shared(b, (int) shared, bytes);
      return address;
    }
    long local = address - b.localBase - (long) thread * b.localStride;
    if (local >= 0 && local <= b.localStride - bytes) {
      return local(b, address, bytes, thread);
    }
    long parameter = address - b.parameters;
    if (parameter >= 0 && parameter <= b.launch.kernel.parameterBytes() - bytes) {
      return address;
    }
    if (Cluster.reaches(b, address, bytes) && (address & (bytes - 1)) == 0) {
      return address;
    }
    return slowGlobal(b, address, bytes, thread);
  }

  private static long slowGlobal(ThreadBlock b, long address, int bytes, int thread) {
    boolean allowed = b.memory.contains(address, bytes);
    if ((address & (bytes - 1)) != 0) {
      throw new DeviceFault(
          allowed ? DeviceFault.MISALIGNED : DeviceFault.ILLEGAL_ADDRESS,
          describe(
              allowed ? "misaligned access" : "access outside an allocation",
              b,
              address,
              bytes,
              thread));
    }
    if (allowed) {
      return address;
    }
    throw new DeviceFault(
        DeviceFault.ILLEGAL_ADDRESS,
        describe("access outside an allocation", b, address, bytes, thread));
  }

  private static String describe(String what, ThreadBlock b, long address, int bytes, int thread) {
    return what
        + " of "
        + bytes
        + " bytes at address 0x"
        + Long.toHexString(address)
        + " by "
        + b.where(thread);
  }

  /** Returns the real address of an offset into the block's shared memory. */
  public static long shared(ThreadBlock b, int offset, int bytes) {
    if (offset >= 0 && offset <= b.sharedBytes - bytes && (offset & (bytes - 1)) == 0) {
      return b.sharedBase + offset;
    }
    long far = Cluster.generic(b, offset);
    if (Cluster.reaches(b, far, bytes) && (offset & (bytes - 1)) == 0) {
      return far;
    }
    throw sharedFault(b, offset, bytes);
  }

  private static DeviceFault sharedFault(ThreadBlock b, int offset, int bytes) {
    boolean inside = offset >= 0 && offset <= b.sharedBytes - bytes;
    return new DeviceFault(
        inside ? DeviceFault.MISALIGNED : DeviceFault.ILLEGAL_ADDRESS,
        (inside ? "misaligned access of " : "access outside shared memory of ")
            + bytes
            + " bytes at offset "
            + (offset & 0xffffffffL)
            + " (the block has "
            + b.sharedBytes
            + " bytes) by "
            + b.where(-1));
  }

  /** An address in the thread's local memory. */
  public static long local(ThreadBlock b, long address, int bytes, int thread) {
    long offset = address - b.localBase - (long) thread * b.localStride;
    boolean inside = offset >= 0 && offset <= b.localStride - bytes;
    if (inside && (address & (bytes - 1)) == 0) {
      return address;
    }
    throw new DeviceFault(
        inside ? DeviceFault.MISALIGNED : DeviceFault.ILLEGAL_ADDRESS,
        describe(
            inside ? "misaligned access" : "access outside local memory",
            b,
            address,
            bytes,
            thread));
  }

  public static int isGlobal(ThreadBlock b, long address) {
    boolean shared = isShared(b, address) != 0 || Cluster.isShared(b, address) != 0;
    return shared || isLocal(b, address) != 0 ? 0 : 1;
  }

  public static int isShared(ThreadBlock b, long address) {
    long offset = address - b.sharedBase;
    return offset >= 0 && offset < Math.max(1, b.sharedBytes) ? 1 : 0;
  }

  public static int isLocal(ThreadBlock b, long address) {
    long offset = address - b.localBase;
    return offset >= 0 && offset < (long) b.localStride * b.threads ? 1 : 0;
  }

  /**
   * Constant variables lie in global memory on this device, so that no generic address is constant.
   */
  public static int isConst(ThreadBlock b, long address) {
    return 0;
  }

  public static int isParam(ThreadBlock b, long address) {
    long offset = address - b.parameters;
    return offset >= 0 && offset < b.launch.kernel.parameterBytes() ? 1 : 0;
  }

  public static void fence() {
    UNSAFE.fullFence();
  }

  /** cp.async: both addresses are checked. */
  public static void copy(long to, long from, int bytes) {
    UNSAFE.copyMemory(from, to, bytes);
  }

  /** cp.async that reads fewer bytes than it writes: the rest is set to zero. */
  public static void copyPart(ThreadBlock b, long to, long from, int bytes, int all) {
    int n = Math.max(0, Math.min(bytes, all));
    for (int i = 0; i < n; i++) {
      UNSAFE.putByte(to + i, UNSAFE.getByte(global(b, from + i, 1)));
    }
    UNSAFE.setMemory(to + n, all - n, (byte) 0);
  }

  /** cp.async.bulk: both ranges are generic addresses, aligned to 16 bytes. */
  public static void copyBulk(ThreadBlock b, long to, long from, int bytes, int thread) {
    if (bytes != 0) {
      range(b, to, bytes, thread);
      range(b, from, bytes, thread);
      UNSAFE.copyMemory(from, to, bytes);
    }
  }

  /** Checks a range of bytes: both ends, and that they belong to the same memory. */
  private static void range(ThreadBlock b, long address, int bytes, int thread) {
    if (((address | bytes) & 15) != 0 || bytes < 0) {
      throw new DeviceFault(
          DeviceFault.MISALIGNED, describe("misaligned bulk copy", b, address, bytes, thread));
    }
    long shared = address - b.sharedBase;
    boolean inside =
        shared >= 0 && shared < b.sharedBytes
            ? shared + bytes <= b.sharedBytes
            : b.memory.contains(address, bytes) || Cluster.reaches(b, address, bytes);
    if (!inside) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_ADDRESS,
          describe("bulk copy outside an allocation", b, address, bytes, thread));
    }
  }

  public static int loadU8(long address) {
    return UNSAFE.getByte(address) & 0xff;
  }

  public static int loadS8(long address) {
    return UNSAFE.getByte(address);
  }

  public static int loadU16(long address) {
    return UNSAFE.getShort(address) & 0xffff;
  }

  public static int loadS16(long address) {
    return UNSAFE.getShort(address);
  }

  public static int loadI32(long address) {
    return UNSAFE.getInt(address);
  }

  public static long loadI64(long address) {
    return UNSAFE.getLong(address);
  }

  public static float loadF32(long address) {
    return UNSAFE.getFloat(address);
  }

  public static double loadF64(long address) {
    return UNSAFE.getDouble(address);
  }

  public static int volatileU8(long address) {
    return UNSAFE.getByteVolatile(null, address) & 0xff;
  }

  public static int volatileS8(long address) {
    return UNSAFE.getByteVolatile(null, address);
  }

  public static int volatileU16(long address) {
    return UNSAFE.getShortVolatile(null, address) & 0xffff;
  }

  public static int volatileS16(long address) {
    return UNSAFE.getShortVolatile(null, address);
  }

  public static int volatileI32(long address) {
    return UNSAFE.getIntVolatile(null, address);
  }

  public static long volatileI64(long address) {
    return UNSAFE.getLongVolatile(null, address);
  }

  public static float volatileF32(long address) {
    return Float.intBitsToFloat(UNSAFE.getIntVolatile(null, address));
  }

  public static double volatileF64(long address) {
    return Double.longBitsToDouble(UNSAFE.getLongVolatile(null, address));
  }

  public static void storeI8(long address, int value) {
    UNSAFE.putByte(address, (byte) value);
  }

  public static void storeI16(long address, int value) {
    UNSAFE.putShort(address, (short) value);
  }

  public static void storeI32(long address, int value) {
    UNSAFE.putInt(address, value);
  }

  public static void storeI64(long address, long value) {
    UNSAFE.putLong(address, value);
  }

  public static void storeF32(long address, float value) {
    UNSAFE.putFloat(address, value);
  }

  public static void storeF64(long address, double value) {
    UNSAFE.putDouble(address, value);
  }

  public static void storeVolatileI8(long address, int value) {
    UNSAFE.putByteVolatile(null, address, (byte) value);
  }

  public static void storeVolatileI16(long address, int value) {
    UNSAFE.putShortVolatile(null, address, (short) value);
  }

  public static void storeVolatileI32(long address, int value) {
    UNSAFE.putIntVolatile(null, address, value);
  }

  public static void storeVolatileI64(long address, long value) {
    UNSAFE.putLongVolatile(null, address, value);
  }

  public static void storeVolatileF32(long address, float value) {
    UNSAFE.putIntVolatile(null, address, Float.floatToRawIntBits(value));
  }

  public static void storeVolatileF64(long address, double value) {
    UNSAFE.putLongVolatile(null, address, Double.doubleToRawLongBits(value));
  }
}
