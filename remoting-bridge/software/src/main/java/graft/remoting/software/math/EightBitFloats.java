package graft.remoting.software.math;

/**
 * Floating-point numbers of 8 bits (PTX ISA, "Alternate Floating-Point Data Formats"), held as
 * their bits: e4m3 has no infinities and one NaN of each sign; e5m2 is like half precision cut to 8
 * bits.
 *
 * <p>Rounding is to the nearest, ties to even, and numbers that are too large become the largest
 * (.satfinite, which PTX requires). Flags: 2 relu.
 */
public final class EightBitFloats {
  private static final int NAN = 0x7f;

  private EightBitFloats() {}

  public static float fromE4m3(int bits) {
    int exponent = bits >> 3 & 15;
    int fraction = bits & 7;
    float magnitude =
        (bits & 0x7f) == NAN
            ? Float.NaN
            : exponent == 0 ? fraction * 0x1p-9f : Math.scalb(8 + fraction, exponent - 10);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  }

  public static float fromE5m2(int bits) {
    return HalfMath.toFloat((bits & 0xff) << 8);
  }

  private static int toE4m3(double a, int flags) {
    return round(a, 3, -6, 0x7e, flags);
  }

  private static int toE5m2(double a, int flags) {
    return round(a, 2, -14, 0x7b, flags);
  }

  private static int round(double a, int fractionBits, int least, int largest, int flags) {
    if (Double.isNaN(a)) {
      return NAN;
    }
    int sign = Double.doubleToRawLongBits(a) < 0 ? 0x80 : 0;
    if (sign != 0 && (flags & 2) != 0) {
      return 0;
    }
    double magnitude = Math.min(Math.abs(a), 0x1p20);
    int exponent = Math.max(Math.getExponent(magnitude), least);
    int units = (int) Math.rint(Math.scalb(magnitude, fractionBits - exponent));
    return sign | Math.min(units + (exponent - least << fractionBits), largest);
  }

  /** The first operand goes to the high half. */
  public static int e4m3Pair(float high, float low, int flags) {
    return toE4m3(high, flags) << 8 | toE4m3(low, flags);
  }

  public static int e5m2Pair(float high, float low, int flags) {
    return toE5m2(high, flags) << 8 | toE5m2(low, flags);
  }

  public static int e4m3FromHalves(int halves, int flags) {
    return e4m3Pair(HalfMath.toFloat(halves >>> 16), HalfMath.toFloat(halves & 0xffff), flags);
  }

  public static int e5m2FromHalves(int halves, int flags) {
    return e5m2Pair(HalfMath.toFloat(halves >>> 16), HalfMath.toFloat(halves & 0xffff), flags);
  }

  private static int halves(float high, float low, int flags) {
    int h = HalfMath.fromDouble(high);
    int l = HalfMath.fromDouble(low);
    return (flags & 2) != 0 ? HalfMath.relu(h) << 16 | HalfMath.relu(l) : h << 16 | l;
  }

  public static int halvesFromE4m3(int pair, int flags) {
    return halves(fromE4m3(pair >> 8 & 0xff), fromE4m3(pair & 0xff), flags);
  }

  public static int halvesFromE5m2(int pair, int flags) {
    return halves(fromE5m2(pair >> 8 & 0xff), fromE5m2(pair & 0xff), flags);
  }
}
