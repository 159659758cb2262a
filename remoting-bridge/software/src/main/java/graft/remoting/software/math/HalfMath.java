package graft.remoting.software.math;

/**
 * Half precision (binary16) numbers, represented by their bits. Sums and products of halves are
 * computed in float, and fused ones in double, which have enough bits that one rounding to half
 * gives the correct result.
 *
 * <p>Flags: 1 saturate to 0 and 1, 2 relu, 4 flush subnormal operands and results to zero.
 */
public final class HalfMath {
  /** The canonical NaN. */
  static final int NAN = 0x7fff;

  private HalfMath() {}

  public static float toFloat(int h) {
    int sign = (h & 0x8000) << 16;
    int exponent = h >> 10 & 31;
    int fraction = h & 0x3ff;
    if (exponent == 31) {
      return Float.intBitsToFloat(sign | 0x7f800000 | fraction << 13);
    }
    if (exponent == 0) {
      return Float.intBitsToFloat(sign | Float.floatToRawIntBits(fraction * 0x1p-24f));
    }
    return Float.intBitsToFloat(sign | (exponent + 112) << 23 | fraction << 13);
  }

  /** Rounds to the nearest half, ties to even. */
  public static int fromDouble(double a) {
    return fromDouble(a, 0);
  }

  /** Rounds by a mode: 0 nearest even, 1 towards zero, 2 down, 3 up. */
  static int fromDouble(double a, int mode) {
    if (Double.isNaN(a)) {
      return NAN;
    }
    int sign = Double.doubleToRawLongBits(a) < 0 ? 0x8000 : 0;
    double magnitude = Math.abs(a);
    boolean up = mode == 3 && sign == 0 || mode == 2 && sign != 0;
    if (magnitude >= 65520 || magnitude > 65504 && mode != 0) {
      boolean infinite = magnitude == Double.POSITIVE_INFINITY || mode == 0 || up;
      return sign | (infinite ? 0x7c00 : 0x7bff);
    }
    int exponent = Math.max(Math.getExponent(magnitude), -14);
    // The number in units of the last place, which is whole after rounding.
    double units = magnitude * Math.scalb(1d, 10 - exponent);
    double rounded = mode == 0 ? Math.rint(units) : up ? Math.ceil(units) : Math.floor(units);
    int n = (int) rounded;
    return sign | n + (exponent + 14 << 10);
  }

  private static int finish(double value, int flags) {
    double v = value;
    if ((flags & 1) != 0) {
      v = FloatMath.saturate(v);
    }
    int h = fromDouble(v);
    if ((flags & 4) != 0) {
      h = flush(h);
    }
    return (flags & 2) != 0 ? relu(h) : h;
  }

  /** Negative numbers become 0; NaN becomes the canonical NaN. */
  static int relu(int h) {
    if ((h & 0x7fff) > 0x7c00) {
      return NAN;
    }
    return (h & 0x8000) != 0 ? 0 : h;
  }

  private static int flush(int h) {
    return (h & 0x7c00) == 0 ? h & 0x8000 : h;
  }

  private static float operand(int h, int flags) {
    return toFloat((flags & 4) != 0 ? flush(h) : h);
  }

  public static int add(int a, int b, int flags) {
    return finish(operand(a, flags) + operand(b, flags), flags);
  }

  public static int sub(int a, int b, int flags) {
    return finish(operand(a, flags) - operand(b, flags), flags);
  }

  public static int mul(int a, int b, int flags) {
    return finish(operand(a, flags) * operand(b, flags), flags);
  }

  public static int fma(int a, int b, int c, int flags) {
    return finish((double) operand(a, flags) * operand(b, flags) + operand(c, flags), flags);
  }

  public static int abs(int a, int flags) {
    return a & 0x7fff;
  }

  public static int neg(int a, int flags) {
    return a ^ 0x8000;
  }

  public static int min(int a, int b, int flags) {
    return pick(FloatMath.min(operand(a, flags), operand(b, flags)));
  }

  public static int max(int a, int b, int flags) {
    return pick(FloatMath.max(operand(a, flags), operand(b, flags)));
  }

  public static int minNaN(int a, int b, int flags) {
    return pick(FloatMath.minNaN(operand(a, flags), operand(b, flags)));
  }

  public static int maxNaN(int a, int b, int flags) {
    return pick(FloatMath.maxNaN(operand(a, flags), operand(b, flags)));
  }

  public static int minXorSign(int a, int b, int flags) {
    return pick(FloatMath.minXorSign(operand(a, flags), operand(b, flags)));
  }

  public static int maxXorSign(int a, int b, int flags) {
    return pick(FloatMath.maxXorSign(operand(a, flags), operand(b, flags)));
  }

  private static int pick(float value) {
    return fromDouble(value);
  }

  public static int ex2(int a, int flags) {
    return finish(Math.pow(2, operand(a, flags)), flags);
  }

  public static int tanh(int a, int flags) {
    return finish(Math.tanh(operand(a, flags)), flags);
  }

  /** cvt.sat: clamps to 0 and 1, NaN to 0. */
  public static int saturate(int h) {
    return fromDouble(FloatMath.saturate(toFloat(h)));
  }
}
