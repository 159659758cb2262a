package graft.remoting.software.math;

/** Integer instructions that need more than one JVM instruction. */
public final class IntegerMath {
  private IntegerMath() {}

  // The result of a division by zero is unspecified in PTX. It is all ones here, as on GPUs, and no
  // error.

  public static int divS32(int a, int b) {
    return b == 0 ? -1 : a / b;
  }

  public static int divU32(int a, int b) {
    return b == 0 ? -1 : Integer.divideUnsigned(a, b);
  }

  public static long divS64(long a, long b) {
    return b == 0 ? -1 : a / b;
  }

  public static long divU64(long a, long b) {
    return b == 0 ? -1 : Long.divideUnsigned(a, b);
  }

  public static int remS32(int a, int b) {
    return b == 0 ? a : a % b;
  }

  public static int remU32(int a, int b) {
    return b == 0 ? a : Integer.remainderUnsigned(a, b);
  }

  public static long remS64(long a, long b) {
    return b == 0 ? a : a % b;
  }

  public static long remU64(long a, long b) {
    return b == 0 ? a : Long.remainderUnsigned(a, b);
  }

  public static int minS32(int a, int b) {
    return Math.min(a, b);
  }

  public static int maxS32(int a, int b) {
    return Math.max(a, b);
  }

  public static long minS64(long a, long b) {
    return Math.min(a, b);
  }

  public static long maxS64(long a, long b) {
    return Math.max(a, b);
  }

  public static int minU32(int a, int b) {
    return Integer.compareUnsigned(a, b) <= 0 ? a : b;
  }

  public static int maxU32(int a, int b) {
    return Integer.compareUnsigned(a, b) >= 0 ? a : b;
  }

  public static long minU64(long a, long b) {
    return Long.compareUnsigned(a, b) <= 0 ? a : b;
  }

  public static long maxU64(long a, long b) {
    return Long.compareUnsigned(a, b) >= 0 ? a : b;
  }

  private static int pair(int low, int high) {
    return low & 0xffff | high << 16;
  }

  public static int addU16X2(int a, int b) {
    return pair(a + b, (a >>> 16) + (b >>> 16));
  }

  public static int addS16X2(int a, int b) {
    return addU16X2(a, b);
  }

  public static int minU16X2(int a, int b) {
    return pair(Math.min(a & 0xffff, b & 0xffff), Math.min(a >>> 16, b >>> 16));
  }

  public static int maxU16X2(int a, int b) {
    return pair(Math.max(a & 0xffff, b & 0xffff), Math.max(a >>> 16, b >>> 16));
  }

  public static int minS16X2(int a, int b) {
    return pair(Math.min((short) a, (short) b), Math.min(a >> 16, b >> 16));
  }

  public static int maxS16X2(int a, int b) {
    return pair(Math.max((short) a, (short) b), Math.max(a >> 16, b >> 16));
  }

  public static int addSaturated(int a, int b) {
    long sum = (long) a + b;
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, sum));
  }

  public static int subSaturated(int a, int b) {
    long difference = (long) a - b;
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, difference));
  }

  public static int mulHighS32(int a, int b) {
    return (int) ((long) a * b >> 32);
  }

  public static int mulHighU32(int a, int b) {
    return (int) ((a & 0xffffffffL) * (b & 0xffffffffL) >>> 32);
  }

  public static long mulHighS64(long a, long b) {
    return Math.multiplyHigh(a, b);
  }

  public static long mulHighU64(long a, long b) {
    return Math.multiplyHigh(a, b) + (a >> 63 & b) + (b >> 63 & a);
  }

  private static long product24(int a, int b, boolean signed) {
    return signed ? (long) (a << 8 >> 8) * (b << 8 >> 8) : (long) (a & 0xffffff) * (b & 0xffffff);
  }

  public static int mul24LowS32(int a, int b) {
    return (int) product24(a, b, true);
  }

  public static int mul24LowU32(int a, int b) {
    return (int) product24(a, b, false);
  }

  /** The upper 32 of the 48 bits of the product. */
  public static int mul24HighS32(int a, int b) {
    return (int) (product24(a, b, true) >> 16);
  }

  public static int mul24HighU32(int a, int b) {
    return (int) (product24(a, b, false) >>> 16);
  }

  public static int absoluteDifferenceS32(int a, int b) {
    return a < b ? b - a : a - b;
  }

  public static int absoluteDifferenceU32(int a, int b) {
    return Integer.compareUnsigned(a, b) < 0 ? b - a : a - b;
  }

  public static long absoluteDifferenceS64(long a, long b) {
    return a < b ? b - a : a - b;
  }

  public static long absoluteDifferenceU64(long a, long b) {
    return Long.compareUnsigned(a, b) < 0 ? b - a : a - b;
  }

  /** Carry out of a + b + carry. */
  public static int carry(int a, int b, int carry) {
    return (int) ((a & 0xffffffffL) + (b & 0xffffffffL) + carry >>> 32);
  }

  public static int carry(long a, long b, int carry) {
    long sum = a + b;
    long total = sum + carry;
    return Long.compareUnsigned(sum, a) < 0 || Long.compareUnsigned(total, sum) < 0 ? 1 : 0;
  }

  /** Borrow out of a - b - borrow. */
  public static int borrow(int a, int b, int borrow) {
    return (a & 0xffffffffL) - (b & 0xffffffffL) - borrow < 0 ? 1 : 0;
  }

  public static int borrow(long a, long b, int borrow) {
    long difference = a - b;
    return Long.compareUnsigned(a, b) < 0 || Long.compareUnsigned(difference, borrow) < 0 ? 1 : 0;
  }

  // Position of the most significant bit that is not the sign; all ones if there is none.

  private static int part(int value, int shift, int bits, int signed) {
    int cut = value << (32 - bits - shift);
    return signed != 0 ? cut >> (32 - bits) : cut >>> (32 - bits);
  }

  public static int dp4a(int a, int b, int c, int signedA, int signedB) {
    int sum = c;
    for (int i = 0; i < 32; i += 8) {
      sum += part(a, i, 8, signedA) * part(b, i, 8, signedB);
    }
    return sum;
  }

  public static int dp2aLow(int a, int b, int c, int signedA, int signedB) {
    return c
        + part(a, 0, 16, signedA) * part(b, 0, 8, signedB)
        + part(a, 16, 16, signedA) * part(b, 8, 8, signedB);
  }

  public static int dp2aHigh(int a, int b, int c, int signedA, int signedB) {
    return c
        + part(a, 0, 16, signedA) * part(b, 16, 8, signedB)
        + part(a, 16, 16, signedA) * part(b, 24, 8, signedB);
  }
}
