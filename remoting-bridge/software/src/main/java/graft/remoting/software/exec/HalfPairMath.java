package graft.remoting.software.exec;

/** Two halves in an int, the first in the low half; flags as for {@link HalfMath}. */
public final class HalfPairMath {
  private HalfPairMath() {}

  private static int pair(int low, int high) {
    return low & 0xffff | high << 16;
  }

  private static int low(int a) {
    return a & 0xffff;
  }

  private static int high(int a) {
    return a >>> 16;
  }

  public static int add(int a, int b, int flags) {
    return pair(HalfMath.add(low(a), low(b), flags), HalfMath.add(high(a), high(b), flags));
  }

  public static int sub(int a, int b, int flags) {
    return pair(HalfMath.sub(low(a), low(b), flags), HalfMath.sub(high(a), high(b), flags));
  }

  public static int mul(int a, int b, int flags) {
    return pair(HalfMath.mul(low(a), low(b), flags), HalfMath.mul(high(a), high(b), flags));
  }

  public static int fma(int a, int b, int c, int flags) {
    return pair(
        HalfMath.fma(low(a), low(b), low(c), flags),
        HalfMath.fma(high(a), high(b), high(c), flags));
  }

  public static int abs(int a, int flags) {
    return pair(HalfMath.abs(low(a), flags), HalfMath.abs(high(a), flags));
  }

  public static int neg(int a, int flags) {
    return pair(HalfMath.neg(low(a), flags), HalfMath.neg(high(a), flags));
  }

  public static int min(int a, int b, int flags) {
    return pair(HalfMath.min(low(a), low(b), flags), HalfMath.min(high(a), high(b), flags));
  }

  public static int max(int a, int b, int flags) {
    return pair(HalfMath.max(low(a), low(b), flags), HalfMath.max(high(a), high(b), flags));
  }

  public static int minNaN(int a, int b, int flags) {
    return pair(HalfMath.minNaN(low(a), low(b), flags), HalfMath.minNaN(high(a), high(b), flags));
  }

  public static int maxNaN(int a, int b, int flags) {
    return pair(HalfMath.maxNaN(low(a), low(b), flags), HalfMath.maxNaN(high(a), high(b), flags));
  }

  public static int minXorSign(int a, int b, int flags) {
    return pair(
        HalfMath.minXorSign(low(a), low(b), flags), HalfMath.minXorSign(high(a), high(b), flags));
  }

  public static int maxXorSign(int a, int b, int flags) {
    return pair(
        HalfMath.maxXorSign(low(a), low(b), flags), HalfMath.maxXorSign(high(a), high(b), flags));
  }

  public static int ex2(int a, int flags) {
    return pair(HalfMath.ex2(low(a), flags), HalfMath.ex2(high(a), flags));
  }

  public static int tanh(int a, int flags) {
    return pair(HalfMath.tanh(low(a), flags), HalfMath.tanh(high(a), flags));
  }
}
