package graft.remoting.software.exec;

/** Two bfloat16 numbers in an int, the first in the low half; flags as for {@link HalfMath}. */
public final class BfloatPairMath {
  private BfloatPairMath() {}

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
    return pair(BfloatMath.add(low(a), low(b), flags), BfloatMath.add(high(a), high(b), flags));
  }

  public static int sub(int a, int b, int flags) {
    return pair(BfloatMath.sub(low(a), low(b), flags), BfloatMath.sub(high(a), high(b), flags));
  }

  public static int mul(int a, int b, int flags) {
    return pair(BfloatMath.mul(low(a), low(b), flags), BfloatMath.mul(high(a), high(b), flags));
  }

  public static int fma(int a, int b, int c, int flags) {
    return pair(
        BfloatMath.fma(low(a), low(b), low(c), flags),
        BfloatMath.fma(high(a), high(b), high(c), flags));
  }

  public static int abs(int a, int flags) {
    return pair(BfloatMath.abs(low(a), flags), BfloatMath.abs(high(a), flags));
  }

  public static int neg(int a, int flags) {
    return pair(BfloatMath.neg(low(a), flags), BfloatMath.neg(high(a), flags));
  }

  public static int min(int a, int b, int flags) {
    return pair(BfloatMath.min(low(a), low(b), flags), BfloatMath.min(high(a), high(b), flags));
  }

  public static int max(int a, int b, int flags) {
    return pair(BfloatMath.max(low(a), low(b), flags), BfloatMath.max(high(a), high(b), flags));
  }

  public static int minNaN(int a, int b, int flags) {
    return pair(
        BfloatMath.minNaN(low(a), low(b), flags), BfloatMath.minNaN(high(a), high(b), flags));
  }

  public static int maxNaN(int a, int b, int flags) {
    return pair(
        BfloatMath.maxNaN(low(a), low(b), flags), BfloatMath.maxNaN(high(a), high(b), flags));
  }

  public static int minXorSign(int a, int b, int flags) {
    return pair(
        BfloatMath.minXorSign(low(a), low(b), flags),
        BfloatMath.minXorSign(high(a), high(b), flags));
  }

  public static int maxXorSign(int a, int b, int flags) {
    return pair(
        BfloatMath.maxXorSign(low(a), low(b), flags),
        BfloatMath.maxXorSign(high(a), high(b), flags));
  }

  public static int ex2(int a, int flags) {
    return pair(BfloatMath.ex2(low(a), flags), BfloatMath.ex2(high(a), flags));
  }

  public static int tanh(int a, int flags) {
    return pair(BfloatMath.tanh(low(a), flags), BfloatMath.tanh(high(a), flags));
  }
}
