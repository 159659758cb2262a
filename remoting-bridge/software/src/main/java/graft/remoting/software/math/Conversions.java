package graft.remoting.software.math;

import java.math.BigDecimal;
import java.math.BigInteger;

/** PTX ISA, "cvt". Rounding modes: 0 nearest even, 1 towards zero, 2 down, 3 up. */
public final class Conversions {
  private static final double TWO_63 = 0x1p63;

  private Conversions() {}

  /** Rounds to a whole number. */
  public static double round(double a, int mode) {
    return switch (mode) {
      case 0 -> Math.rint(a);
      case 1 -> a < 0 ? Math.ceil(a) : Math.floor(a);
      case 2 -> Math.floor(a);
      default -> Math.ceil(a);
    };
  }

  // Whole doubles to integers, clamped. NaN becomes 0, except that from f64 and to 64 bits it
  // becomes the most negative number of the target's width, as on GPUs; CUDA documents this for
  // __double2int_rz.

  /**
   * Replaces the conversion of a NaN with the result that a conversion from f64 has, in the low
   * bits of every width.
   */
  public static int nanFromDouble(double a, int converted, int width) {
    return Double.isNaN(a) ? -1 << (width - 1) : converted;
  }

  /** Replaces the conversion of a NaN with the result that a conversion to 64 bits has. */
  public static long nanToLong(double a, long converted) {
    return Double.isNaN(a) ? Long.MIN_VALUE : converted;
  }

  public static int doubleToU32(double a) {
    return (int) (long) Math.max(0d, Math.min(!Double.isNaN(a) ? a : 0d, 4294967295d));
  }

  public static int doubleToS16(double a) {
    return (int) Math.max(-32768d, Math.min(!Double.isNaN(a) ? a : 0d, 32767d));
  }

  public static int doubleToU16(double a) {
    return (int) Math.max(0d, Math.min(!Double.isNaN(a) ? a : 0d, 65535d));
  }

  public static int doubleToS8(double a) {
    return (int) Math.max(-128d, Math.min(!Double.isNaN(a) ? a : 0d, 127d));
  }

  public static int doubleToU8(double a) {
    return (int) Math.max(0d, Math.min(!Double.isNaN(a) ? a : 0d, 255d));
  }

  public static long doubleToU64(double a) {
    if (!(a > 0)) {
      return 0;
    }
    return a < TWO_63 ? (long) a : a >= 0x1p64 ? -1L : (long) (a - TWO_63) ^ Long.MIN_VALUE;
  }

  // Integers, as long, clamped to a smaller range; unsigned is 1 for u64.

  private static long clamp(long a, int unsigned, long least, long most) {
    if (unsigned != 0 && a < 0) {
      return most;
    }
    return Math.max(least, Math.min(most, a));
  }

  public static long clampS8(long a, int unsigned) {
    return clamp(a, unsigned, -128, 127);
  }

  public static long clampU8(long a, int unsigned) {
    return clamp(a, unsigned, 0, 255);
  }

  public static long clampS16(long a, int unsigned) {
    return clamp(a, unsigned, -32768, 32767);
  }

  public static long clampU16(long a, int unsigned) {
    return clamp(a, unsigned, 0, 65535);
  }

  public static long clampS32(long a, int unsigned) {
    return clamp(a, unsigned, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  public static long clampU32(long a, int unsigned) {
    return clamp(a, unsigned, 0, 0xffffffffL);
  }

  public static long clampS64(long a, int unsigned) {
    return clamp(a, unsigned, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  public static long clampU64(long a, int unsigned) {
    return unsigned != 0 ? a : Math.max(0, a);
  }

  // Integers to floats.

  private static BigDecimal exact(long a, int unsigned) {
    return unsigned != 0 && a < 0
        ? new BigDecimal(new BigInteger(Long.toUnsignedString(a)))
        : BigDecimal.valueOf(a);
  }

  public static float integerToF32(long a, int unsigned, int mode) {
    BigDecimal exact = exact(a, unsigned);
    float nearest = exact.floatValue();
    return adjustedFloat(nearest, exact, mode);
  }

  private static float adjustedFloat(float nearest, BigDecimal exact, int mode) {
    int side = exact.compareTo(new BigDecimal((double) nearest));
    boolean down = mode == 2 || mode == 1 && exact.signum() > 0;
    boolean up = mode == 3 || mode == 1 && exact.signum() < 0;
    return side < 0 && down
        ? Math.nextDown(nearest)
        : side > 0 && up ? Math.nextUp(nearest) : nearest;
  }

  public static double integerToF64(long a, int unsigned, int mode) {
    BigDecimal exact = exact(a, unsigned);
    double nearest = exact.doubleValue();
    int side = exact.compareTo(new BigDecimal(nearest));
    boolean down = mode == 2 || mode == 1 && exact.signum() > 0;
    boolean up = mode == 3 || mode == 1 && exact.signum() < 0;
    return side < 0 && down
        ? Math.nextDown(nearest)
        : side > 0 && up ? Math.nextUp(nearest) : nearest;
  }

  /**
   * Rounds towards zero to 53 bits and sets the last bit if bits were lost, which makes rounding
   * again correct.
   */
  private static double toOdd(long a, int unsigned) {
    double cut = integerToF64(a, unsigned, 1);
    boolean exactly = exact(a, unsigned).compareTo(new BigDecimal(cut)) == 0;
    return exactly ? cut : Double.longBitsToDouble(Double.doubleToRawLongBits(cut) | 1);
  }

  public static int integerToF16(long a, int unsigned, int mode) {
    return HalfMath.fromDouble(toOdd(a, unsigned), mode);
  }

  public static int integerToBF16(long a, int unsigned, int mode) {
    return BfloatMath.fromDouble(toOdd(a, unsigned), mode);
  }

  // Floats to smaller floats. Flags: rounding, 8 relu, 16 satfinite.

  public static int toHalf(double a, int flags) {
    int h = HalfMath.fromDouble(a, flags & 3);
    if ((flags & 16) != 0 && (h & 0x7fff) == 0x7c00) {
      h = h & 0x8000 | 0x7bff;
    }
    return (flags & 8) != 0 ? HalfMath.relu(h) : h;
  }

  public static int toBfloat(double a, int flags) {
    int h = BfloatMath.fromDouble(a, flags & 3);
    if ((flags & 16) != 0 && (h & 0x7fff) == 0x7f80) {
      h = h & 0x8000 | 0x7f7f;
    }
    return (flags & 8) != 0 ? BfloatMath.relu(h) : h;
  }

  public static int toHalfPair(float high, float low, int flags) {
    return toHalf(low, flags) | toHalf(high, flags) << 16;
  }

  public static int toBfloatPair(float high, float low, int flags) {
    return toBfloat(low, flags) | toBfloat(high, flags) << 16;
  }

  /** tf32: a float without the low 13 bits of the fraction; rna rounds ties away from zero. */
  public static int toTf32(float a, int flags) {
    int bits = Float.floatToRawIntBits(a);
    if (Double.isNaN(a)) {
      return 0x7fffffff;
    }
    if (Float.isInfinite(a)) {
      return bits;
    }
    int mode = flags & 7;
    int lost = bits & 0x1fff;
    int cut = bits & ~0x1fff;
    boolean up =
        mode == 4
            ? lost >= 0x1000
            : mode == 0 && (lost > 0x1000 || lost == 0x1000 && (cut & 0x2000) != 0);
    int result = up ? cut + 0x2000 : cut;
    return (flags & 8) != 0 && result < 0 ? 0 : result;
  }

  // cvt.pack.sat: a above b above the low part of c.

  public static int packU16(int a, int b, int c) {
    return doubleToU16(a) << 16 | doubleToU16(b);
  }

  public static int packS16(int a, int b, int c) {
    return doubleToS16(a) << 16 | doubleToS16(b) & 0xffff;
  }

  public static int packU8(int a, int b, int c) {
    return c << 16 | doubleToU8(a) << 8 | doubleToU8(b);
  }

  public static int packS8(int a, int b, int c) {
    return c << 16 | (doubleToS8(a) & 0xff) << 8 | doubleToS8(b) & 0xff;
  }
}
