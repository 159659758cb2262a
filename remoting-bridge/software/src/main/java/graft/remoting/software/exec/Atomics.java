package graft.remoting.software.exec;

import graft.remoting.software.math.BfloatMath;
import graft.remoting.software.math.HalfMath;
import graft.remoting.software.math.IntegerMath;
import graft.remoting.software.memory.Native;
import sun.misc.Unsafe;

/** Atomic operations, each of which returns the previous value (PTX ISA, "atom"). */
public final class Atomics {
  private static final Unsafe UNSAFE = Native.UNSAFE;

  private Atomics() {}

  public static int addB32(long address, int value) {
    return UNSAFE.getAndAddInt(null, address, value);
  }

  public static long addB64(long address, long value) {
    return UNSAFE.getAndAddLong(null, address, value);
  }

  public static int exchB32(long address, int value) {
    return UNSAFE.getAndSetInt(null, address, value);
  }

  public static long exchB64(long address, long value) {
    return UNSAFE.getAndSetLong(null, address, value);
  }

  public static int casB32(long address, int expected, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (old != expected || UNSAFE.compareAndSwapInt(null, address, old, value)) {
        return old;
      }
    }
  }

  public static long casB64(long address, long expected, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (old != expected || UNSAFE.compareAndSwapLong(null, address, old, value)) {
        return old;
      }
    }
  }

  /** Replaces the 16 bits at an address if the word around them has not changed meanwhile. */
  private static boolean replace16(long address, int old, int value) {
    long word = address & ~3L;
    int shift = (int) (address & 2) * 8;
    int before = UNSAFE.getIntVolatile(null, word);
    if ((before >>> shift & 0xffff) != old) {
      return false;
    }
    int after = before & ~(0xffff << shift) | (value & 0xffff) << shift;
    return UNSAFE.compareAndSwapInt(null, word, before, after);
  }

  private static int load16(long address) {
    return UNSAFE.getShortVolatile(null, address) & 0xffff;
  }

  public static int casB16(long address, int expected, int value) {
    while (true) {
      int old = load16(address);
      if (old != expected || replace16(address, old, value)) {
        return old;
      }
    }
  }

  public static int exchB16(long address, int value) {
    while (true) {
      int old = load16(address);
      if (replace16(address, old, value)) {
        return old;
      }
    }
  }

  public static int andB32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, old & value)) {
        return old;
      }
    }
  }

  public static int orB32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, old | value)) {
        return old;
      }
    }
  }

  public static int xorB32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, old ^ value)) {
        return old;
      }
    }
  }

  public static int minS32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, IntegerMath.minS32(old, value))) {
        return old;
      }
    }
  }

  public static int maxS32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, IntegerMath.maxS32(old, value))) {
        return old;
      }
    }
  }

  public static int minU32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, IntegerMath.minU32(old, value))) {
        return old;
      }
    }
  }

  public static int maxU32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(null, address, old, IntegerMath.maxU32(old, value))) {
        return old;
      }
    }
  }

  public static long andB64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, old & value)) {
        return old;
      }
    }
  }

  public static long orB64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, old | value)) {
        return old;
      }
    }
  }

  public static long xorB64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, old ^ value)) {
        return old;
      }
    }
  }

  public static long minS64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, IntegerMath.minS64(old, value))) {
        return old;
      }
    }
  }

  public static long maxS64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, IntegerMath.maxS64(old, value))) {
        return old;
      }
    }
  }

  public static long minU64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, IntegerMath.minU64(old, value))) {
        return old;
      }
    }
  }

  public static long maxU64(long address, long value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      if (UNSAFE.compareAndSwapLong(null, address, old, IntegerMath.maxU64(old, value))) {
        return old;
      }
    }
  }

  public static int incU32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(
          null, address, old, Integer.compareUnsigned(old, value) >= 0 ? 0 : old + 1)) {
        return old;
      }
    }
  }

  public static int decU32(long address, int value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      if (UNSAFE.compareAndSwapInt(
          null,
          address,
          old,
          old == 0 || Integer.compareUnsigned(old, value) > 0 ? value : old - 1)) {
        return old;
      }
    }
  }

  public static float addF32(long address, float value) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      float before = Float.intBitsToFloat(old);
      if (UNSAFE.compareAndSwapInt(null, address, old, Float.floatToRawIntBits(before + value))) {
        return before;
      }
    }
  }

  public static double addF64(long address, double value) {
    while (true) {
      long old = UNSAFE.getLongVolatile(null, address);
      double before = Double.longBitsToDouble(old);
      if (UNSAFE.compareAndSwapLong(
          null, address, old, Double.doubleToRawLongBits(before + value))) {
        return before;
      }
    }
  }

  /** An operation on two 16-bit numbers. */
  private interface OnHalves {
    int apply(int a, int b, int flags);
  }

  /** Applies an operation to a 16-bit number. */
  private static int half(long address, int value, OnHalves operation) {
    while (true) {
      int old = load16(address);
      if (replace16(address, old, operation.apply(old, value, 0))) {
        return old;
      }
    }
  }

  public static int addF16(long address, int value) {
    return half(address, value, HalfMath::add);
  }

  public static int minF16(long address, int value) {
    return half(address, value, HalfMath::min);
  }

  public static int maxF16(long address, int value) {
    return half(address, value, HalfMath::max);
  }

  public static int addBF16(long address, int value) {
    return half(address, value, BfloatMath::add);
  }

  public static int minBF16(long address, int value) {
    return half(address, value, BfloatMath::min);
  }

  public static int maxBF16(long address, int value) {
    return half(address, value, BfloatMath::max);
  }

  /** Does an operation to both halves of a word. */
  private static int pair(long address, int value, OnHalves operation) {
    while (true) {
      int old = UNSAFE.getIntVolatile(null, address);
      int low = operation.apply(old & 0xffff, value & 0xffff, 0);
      int high = operation.apply(old >>> 16, value >>> 16, 0);
      if (UNSAFE.compareAndSwapInt(null, address, old, low & 0xffff | high << 16)) {
        return old;
      }
    }
  }

  public static int addF16X2(long address, int value) {
    return pair(address, value, HalfMath::add);
  }

  public static int minF16X2(long address, int value) {
    return pair(address, value, HalfMath::min);
  }

  public static int maxF16X2(long address, int value) {
    return pair(address, value, HalfMath::max);
  }

  public static int addBF16X2(long address, int value) {
    return pair(address, value, BfloatMath::add);
  }

  public static int minBF16X2(long address, int value) {
    return pair(address, value, BfloatMath::min);
  }

  public static int maxBF16X2(long address, int value) {
    return pair(address, value, BfloatMath::max);
  }

  // ---- 128 bits: Java has no such atomic operations, so that locks implement them

  private static final Object[] LOCKS = new Object[64];

  static {
    for (int i = 0; i < LOCKS.length; i++) {
      LOCKS[i] = new Object();
    }
  }

  private static Object lock(long address) {
    return LOCKS[(int) (address >>> 4) & LOCKS.length - 1];
  }

  /** The lower half is the result, and the upper half is stored in the block, for all of these. */
  public static long loadB128(ThreadBlock b, long address) {
    synchronized (lock(address)) {
      b.wideHigh = UNSAFE.getLong(address + 8);
      return UNSAFE.getLong(address);
    }
  }

  public static long storeB128(ThreadBlock b, long address, long low, long high) {
    return exchB128(b, address, low, high);
  }

  public static long exchB128(ThreadBlock b, long address, long low, long high) {
    synchronized (lock(address)) {
      long before = loadB128(b, address);
      UNSAFE.putLong(address, low);
      UNSAFE.putLong(address + 8, high);
      return before;
    }
  }

  public static long casB128(
      ThreadBlock b, long address, long expectedLow, long expectedHigh, long low, long high) {
    synchronized (lock(address)) {
      long before = loadB128(b, address);
      if (before == expectedLow && b.wideHigh == expectedHigh) {
        UNSAFE.putLong(address, low);
        UNSAFE.putLong(address + 8, high);
      }
      return before;
    }
  }
}
