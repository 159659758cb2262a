package graft.remoting.software.math;

/** bfloat16 numbers, held as their bits. Flags as for {@link HalfMath}. */
public final class BfloatMath {
  private static final int NAN = 0x7fff;

  private BfloatMath() {}

  public static float toFloat(int b) {
    return Float.intBitsToFloat(b << 16);
  }

  /** Rounds by a mode: 0 nearest even, 1 towards zero, 2 down, 3 up. */
  static int fromDouble(double a, int mode) {
    if (Double.isNaN(a)) {
      return NAN;
    }
    int sign = Double.doubleToRawLongBits(a) < 0 ? 0x8000 : 0;
    double magnitude = Math.abs(a);
    if (magnitude == Double.POSITIVE_INFINITY) {
      return sign | 0x7f80;
    }
    boolean up = mode == 3 && sign == 0 || mode == 2 && sign != 0;
    int exponent = Math.max(Math.getExponent(magnitude), -126);
    if (exponent > 127) {
      return sign | (mode == 0 || up ? 0x7f80 : 0x7f7f);
    }
    double units = Math.scalb(magnitude, 7 - exponent);
    double rounded = mode == 0 ? Math.rint(units) : up ? Math.ceil(units) : Math.floor(units);
    int bits = (int) rounded + (exponent + 126 << 7);
    if (bits >= 0x7f80) {
      return sign | (mode == 0 || up ? 0x7f80 : 0x7f7f);
    }
    return sign | bits;
  }

  private static int finish(double value, int flags) {
    double v = value;
    if ((flags & 1) != 0) {
      v = FloatMath.saturate(v);
    }
    int h = fromDouble(v, 0);
    return (flags & 2) != 0 ? relu(h) : h;
  }

  /**
   * Returns a sum whose last bit says whether bits were lost, so that rounding it again is correct:
   * the product of two bfloat16 numbers may lie exactly between two others, and then a tiny addend
   * decides.
   */
  private static double sumToOdd(double a, double b) {
    double sum = a + b;
    if (Double.isInfinite(sum) || Double.isNaN(sum)) {
      return sum;
    }
    double fromB = sum - a;
    double lost = (a - (sum - fromB)) + (b - fromB); // Knuth's two-sum: exact
    boolean even = (Double.doubleToRawLongBits(sum) & 1) == 0;
    return lost == 0 || !even ? sum : lost > 0 ? Math.nextUp(sum) : Math.nextDown(sum);
  }

  static int relu(int h) {
    if ((h & 0x7fff) > 0x7f80) {
      return NAN;
    }
    return (h & 0x8000) != 0 ? 0 : h;
  }

  public static int add(int a, int b, int flags) {
    return finish((double) toFloat(a) + toFloat(b), flags);
  }

  public static int sub(int a, int b, int flags) {
    return finish((double) toFloat(a) - toFloat(b), flags);
  }

  public static int mul(int a, int b, int flags) {
    return finish((double) toFloat(a) * toFloat(b), flags);
  }

  public static int fma(int a, int b, int c, int flags) {
    return finish(sumToOdd((double) toFloat(a) * toFloat(b), toFloat(c)), flags);
  }

  public static int abs(int a, int flags) {
    return a & 0x7fff;
  }

  public static int neg(int a, int flags) {
    return a ^ 0x8000;
  }

  public static int min(int a, int b, int flags) {
    return fromDouble(FloatMath.min(toFloat(a), toFloat(b)), 0);
  }

  public static int max(int a, int b, int flags) {
    return fromDouble(FloatMath.max(toFloat(a), toFloat(b)), 0);
  }

  public static int minNaN(int a, int b, int flags) {
    return fromDouble(FloatMath.minNaN(toFloat(a), toFloat(b)), 0);
  }

  public static int maxNaN(int a, int b, int flags) {
    return fromDouble(FloatMath.maxNaN(toFloat(a), toFloat(b)), 0);
  }

  public static int minXorSign(int a, int b, int flags) {
    return fromDouble(FloatMath.minXorSign(toFloat(a), toFloat(b)), 0);
  }

  public static int maxXorSign(int a, int b, int flags) {
    return fromDouble(FloatMath.maxXorSign(toFloat(a), toFloat(b)), 0);
  }

  public static int ex2(int a, int flags) {
    return finish(Math.pow(2, toFloat(a)), flags);
  }

  public static int tanh(int a, int flags) {
    return finish(Math.tanh(toFloat(a)), flags);
  }
}
