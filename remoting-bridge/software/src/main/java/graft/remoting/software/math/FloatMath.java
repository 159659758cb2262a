package graft.remoting.software.math;

/**
 * Single and double precision instructions. Approximate instructions are computed in double
 * precision and rounded, which is within the error that the PTX ISA allows for each.
 */
public final class FloatMath {
  private static final float CANONICAL_NAN = Float.intBitsToFloat(0x7fffffff);
  private static final double LN2 = Math.log(2);

  private FloatMath() {}

  /** .ftz: subnormal numbers become zero of the same sign. */
  public static float flush(float a) {
    return Math.abs(a) < Float.MIN_NORMAL ? Math.copySign(0f, a) : a;
  }

  /** .sat: clamps to 0 and 1, NaN to 0. */
  public static float saturate(float a) {
    return a > 0 ? Math.min(a, 1f) : 0f;
  }

  public static double saturate(double a) {
    return a > 0 ? Math.min(a, 1d) : 0d;
  }

  public static float fma(float a, float b, float c) {
    return Math.fma(a, b, c);
  }

  public static double fma(double a, double b, double c) {
    return Math.fma(a, b, c);
  }

  // .ftz applies to the exact result, before it is rounded up to the smallest normal number.

  public static float mulFlush(float a, float b) {
    double exact = (double) a * b;
    return Math.abs(exact) < Float.MIN_NORMAL ? (float) Math.copySign(0d, exact) : a * b;
  }

  public static float fmaFlush(float a, float b, float c) {
    double nearlyExact = (double) a * b + c;
    return Math.abs(nearlyExact) < Float.MIN_NORMAL
        ? (float) Math.copySign(0d, nearlyExact)
        : Math.fma(a, b, c);
  }

  public static float abs(float a) {
    return Math.abs(a);
  }

  public static double abs(double a) {
    return Math.abs(a);
  }

  public static float neg(float a) {
    return -a;
  }

  public static double neg(double a) {
    return -a;
  }

  /** copysign: the magnitude of b with the sign of a. */
  public static float copySign(float a, float b) {
    return Float.intBitsToFloat(
        Float.floatToRawIntBits(b) & 0x7fffffff | Float.floatToRawIntBits(a) & 0x80000000);
  }

  public static double copySign(double a, double b) {
    return Double.longBitsToDouble(
        Double.doubleToRawLongBits(b) & Long.MAX_VALUE
            | Double.doubleToRawLongBits(a) & Long.MIN_VALUE);
  }

  // min and max return the number if one operand is NaN, and treat -0 as less than +0.

  public static float min(float a, float b) {
    return Double.isNaN(a)
        ? (Double.isNaN(b) ? CANONICAL_NAN : b)
        : Double.isNaN(b) ? a : Math.min(a, b);
  }

  public static float max(float a, float b) {
    return Double.isNaN(a)
        ? (Double.isNaN(b) ? CANONICAL_NAN : b)
        : Double.isNaN(b) ? a : Math.max(a, b);
  }

  public static double min(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
  }

  public static double max(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.max(a, b);
  }

  public static float minNaN(float a, float b) {
    return Double.isNaN(a) || Double.isNaN(b) ? CANONICAL_NAN : Math.min(a, b);
  }

  public static float maxNaN(float a, float b) {
    return Double.isNaN(a) || Double.isNaN(b) ? CANONICAL_NAN : Math.max(a, b);
  }

  private static float xorSign(float magnitude, float a, float b) {
    int sign = (Float.floatToRawIntBits(a) ^ Float.floatToRawIntBits(b)) & 0x80000000;
    return Float.intBitsToFloat(Float.floatToRawIntBits(magnitude) & 0x7fffffff | sign);
  }

  public static float minXorSign(float a, float b) {
    return xorSign(min(Math.abs(a), Math.abs(b)), a, b);
  }

  public static float maxXorSign(float a, float b) {
    return xorSign(max(Math.abs(a), Math.abs(b)), a, b);
  }

  public static float minNaNXorSign(float a, float b) {
    return xorSign(minNaN(Math.abs(a), Math.abs(b)), a, b);
  }

  public static float maxNaNXorSign(float a, float b) {
    return xorSign(maxNaN(Math.abs(a), Math.abs(b)), a, b);
  }

  public static int finite(float a) {
    return Float.isFinite(a) ? 1 : 0;
  }

  public static int infinite(float a) {
    return Float.isInfinite(a) ? 1 : 0;
  }

  public static int number(float a) {
    return !Double.isNaN(a) ? 1 : 0;
  }

  public static int notanumber(float a) {
    return Double.isNaN(a) ? 1 : 0;
  }

  public static int normal(float a) {
    return Float.isFinite(a) && (a == 0 || Math.abs(a) >= Float.MIN_NORMAL) ? 1 : 0;
  }

  public static int subnormal(float a) {
    return a != 0 && Math.abs(a) < Float.MIN_NORMAL ? 1 : 0;
  }

  public static int finite(double a) {
    return Double.isFinite(a) ? 1 : 0;
  }

  public static int infinite(double a) {
    return Double.isInfinite(a) ? 1 : 0;
  }

  public static int number(double a) {
    return !Double.isNaN(a) ? 1 : 0;
  }

  public static int notanumber(double a) {
    return Double.isNaN(a) ? 1 : 0;
  }

  public static int normal(double a) {
    return Double.isFinite(a) && (a == 0 || Math.abs(a) >= Double.MIN_NORMAL) ? 1 : 0;
  }

  public static int subnormal(double a) {
    return a != 0 && Math.abs(a) < Double.MIN_NORMAL ? 1 : 0;
  }

  public static int orderedNotEqual(float a, float b) {
    return a < b || a > b ? 1 : 0;
  }

  public static int orderedNotEqual(double a, double b) {
    return a < b || a > b ? 1 : 0;
  }

  public static int bothNumbers(float a, float b) {
    return !Double.isNaN(a) && !Double.isNaN(b) ? 1 : 0;
  }

  public static int bothNumbers(double a, double b) {
    return !Double.isNaN(a) && !Double.isNaN(b) ? 1 : 0;
  }

  /**
   * div.approx: for divisors from 2^126 to 2^128 the quotient is 0, or NaN if the dividend is
   * infinite.
   */
  public static float divApprox(float a, float b) {
    float magnitude = Math.abs(b);
    if (magnitude > 0x1p126f && magnitude < Float.POSITIVE_INFINITY) {
      return Float.isInfinite(a) || Float.isNaN(a)
          ? CANONICAL_NAN
          : Math.copySign(0f, a) * Math.signum(b);
    }
    return a / b;
  }

  public static float rcp(float a) {
    return 1f / a;
  }

  public static double rcp(double a) {
    return 1d / a;
  }

  /** rcp.approx.ftz.f64: the lower word of the operand is ignored, that of the result is zero. */
  public static double rcpApprox(double a) {
    double high = Double.longBitsToDouble(Double.doubleToRawLongBits(a) & 0xffffffff00000000L);
    double d = Math.abs(high) < Double.MIN_NORMAL ? Math.copySign(0d, high) : high;
    double r = 1 / d;
    double result = Double.longBitsToDouble(Double.doubleToRawLongBits(r) & 0xffffffff00000000L);
    return Math.abs(result) < Double.MIN_NORMAL ? Math.copySign(0d, result) : result;
  }

  public static double rsqrtApprox(double a) {
    double r = 1 / Math.sqrt(a);
    return Double.longBitsToDouble(Double.doubleToRawLongBits(r) & 0xffffffff00000000L);
  }

  public static float sqrt(float a) {
    return (float) Math.sqrt(a);
  }

  public static double sqrt(double a) {
    return Math.sqrt(a);
  }

  public static float rsqrt(float a) {
    return (float) (1 / Math.sqrt(a));
  }

  public static double rsqrt(double a) {
    return 1 / Math.sqrt(a);
  }

  public static float sin(float a) {
    return (float) Math.sin(a);
  }

  public static float cos(float a) {
    return (float) Math.cos(a);
  }

  public static float lg2(float a) {
    int exponent = Math.getExponent(a);
    if (a > 0 && exponent >= Float.MIN_EXPONENT && exponent <= Float.MAX_EXPONENT) {
      // This is exact for powers of two and has no cancellation near 1.
      float mantissa = a / (float) Math.scalb(1f, exponent);
      return mantissa == 1f ? exponent : (float) (Math.log(a) / LN2);
    }
    return (float) (Math.log(a) / LN2);
  }

  public static float ex2(float a) {
    return (float) Math.pow(2, a);
  }

  public static float tanh(float a) {
    return (float) Math.tanh(a);
  }
}
