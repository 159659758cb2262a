package graft.remoting.software.math;

/**
 * Bits, shifts and bytes of integers (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
 * Instructions").
 */
public final class BitMath {
  private BitMath() {}

  public static int bfindU32(int a) {
    return 31 - Integer.numberOfLeadingZeros(a);
  }

  public static int bfindS32(int a) {
    return bfindU32(a < 0 ? ~a : a);
  }

  public static int bfindU64(long a) {
    return 63 - Long.numberOfLeadingZeros(a);
  }

  public static int bfindS64(long a) {
    return bfindU64(a < 0 ? ~a : a);
  }

  public static int bfindU32Shift(int a) {
    int found = bfindU32(a);
    return found < 0 ? found : 31 - found;
  }

  public static int bfindS32Shift(int a) {
    int found = bfindS32(a);
    return found < 0 ? found : 31 - found;
  }

  public static int bfindU64Shift(long a) {
    int found = bfindU64(a);
    return found < 0 ? found : 63 - found;
  }

  public static int bfindS64Shift(long a) {
    int found = bfindS64(a);
    return found < 0 ? found : 63 - found;
  }

  /** PTX ISA, "fns": the n-th set bit from a base. */
  public static int fns(int mask, int base, int offset) {
    if (offset == 0) {
      return base >= 0 && base < 32 && (mask >>> base & 1) != 0 ? base : -1;
    }
    int step = offset > 0 ? 1 : -1;
    int count = Math.abs(offset) - 1;
    for (int i = base; i >= 0 && i < 32; i += step) {
      if ((mask >>> i & 1) != 0 && count-- == 0) {
        return i;
      }
    }
    return -1;
  }

  public static int bfeU32(int a, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (p > 31 || n == 0) {
      return 0;
    }
    int shifted = a >>> p;
    return n >= 32 ? shifted : shifted & (1 << n) - 1;
  }

  public static int bfeS32(int a, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (n == 0) {
      return 0;
    }
    int top = Math.min(p + n - 1, 31);
    int sign = a << (31 - top) >> 31;
    if (p > 31) {
      return a >> 31;
    }
    int shifted = a >>> p;
    int kept = top - p + 1;
    return kept >= 32 ? shifted : shifted & (1 << kept) - 1 | sign << kept;
  }

  public static long bfeU64(long a, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (p > 63 || n == 0) {
      return 0;
    }
    long shifted = a >>> p;
    return n >= 64 ? shifted : shifted & (1L << n) - 1;
  }

  public static long bfeS64(long a, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (n == 0) {
      return 0;
    }
    if (p > 63) {
      return a >> 63;
    }
    int top = Math.min(p + n - 1, 63);
    long sign = a << (63 - top) >> 63;
    long shifted = a >>> p;
    int kept = top - p + 1;
    return kept >= 64 ? shifted : shifted & (1L << kept) - 1 | sign << kept;
  }

  /** Puts the low bits of a into b. */
  public static int bfi32(int a, int b, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (p > 31 || n == 0) {
      return b;
    }
    int field = n >= 32 ? -1 : (1 << n) - 1;
    int place = field << p;
    return a << p & place | b & ~place;
  }

  public static long bfi64(long a, long b, int position, int length) {
    int p = position & 0xff;
    int n = length & 0xff;
    if (p > 63 || n == 0) {
      return b;
    }
    long field = n >= 64 ? -1 : (1L << n) - 1;
    long place = field << p;
    return a << p & place | b & ~place;
  }

  public static int szextS32Clamp(int a, int n) {
    return Integer.compareUnsigned(n, 32) >= 0 ? a : n == 0 ? 0 : a << (32 - n) >> (32 - n);
  }

  public static int szextS32Wrap(int a, int n) {
    return szextS32Clamp(a, n & 31);
  }

  public static int szextU32Clamp(int a, int n) {
    return Integer.compareUnsigned(n, 32) >= 0 ? a : a & (1 << n) - 1;
  }

  public static int szextU32Wrap(int a, int n) {
    return szextU32Clamp(a, n & 31);
  }

  /** A mask of b bits from position a. */
  public static int bmskClamp(int a, int b) {
    int p = Integer.compareUnsigned(a, 32) > 0 ? 32 : a;
    int n = Integer.compareUnsigned(b, 32) > 0 ? 32 : b;
    long bits = n == 0 ? 0 : (1L << n) - 1;
    return p >= 32 ? 0 : (int) (bits << p);
  }

  public static int bmskWrap(int a, int b) {
    return bmskClamp(a & 31, b & 31);
  }

  /** Any function of three inputs: bit (a,b,c) of the table. */
  public static int lop3(int a, int b, int c, int table) {
    int result = 0;
    if ((table & 0x01) != 0) {
      result |= ~a & ~b & ~c;
    }
    if ((table & 0x02) != 0) {
      result |= ~a & ~b & c;
    }
    if ((table & 0x04) != 0) {
      result |= ~a & b & ~c;
    }
    if ((table & 0x08) != 0) {
      result |= ~a & b & c;
    }
    if ((table & 0x10) != 0) {
      result |= a & ~b & ~c;
    }
    if ((table & 0x20) != 0) {
      result |= a & ~b & c;
    }
    if ((table & 0x40) != 0) {
      result |= a & b & ~c;
    }
    if ((table & 0x80) != 0) {
      result |= a & b & c;
    }
    return result;
  }

  public static int shiftLeft(int a, int n) {
    return Integer.compareUnsigned(n, 32) >= 0 ? 0 : a << n;
  }

  public static long shiftLeft(long a, int n) {
    return Integer.compareUnsigned(n, 64) >= 0 ? 0 : a << n;
  }

  public static int shiftRight(int a, int n) {
    return Integer.compareUnsigned(n, 32) >= 0 ? 0 : a >>> n;
  }

  public static long shiftRight(long a, int n) {
    return Integer.compareUnsigned(n, 64) >= 0 ? 0 : a >>> n;
  }

  public static int shiftRightSigned(int a, int n) {
    return Integer.compareUnsigned(n, 32) >= 0 ? a >> 31 : a >> n;
  }

  public static long shiftRightSigned(long a, int n) {
    return Integer.compareUnsigned(n, 64) >= 0 ? a >> 63 : a >> n;
  }

  // shf: a is the low, b the high half.

  public static int funnelLeftWrap(int a, int b, int n) {
    return (int) (wide(a, b) << (n & 31) >>> 32);
  }

  public static int funnelLeftClamp(int a, int b, int n) {
    int k = Integer.compareUnsigned(n, 32) > 0 ? 32 : n;
    return (int) (wide(a, b) << k >>> 32);
  }

  public static int funnelRightWrap(int a, int b, int n) {
    return (int) (wide(a, b) >>> (n & 31));
  }

  public static int funnelRightClamp(int a, int b, int n) {
    int k = Integer.compareUnsigned(n, 32) > 0 ? 32 : n;
    return (int) (wide(a, b) >>> k);
  }

  private static long wide(int low, int high) {
    return (long) high << 32 | low & 0xffffffffL;
  }

  private static int byteOf(long bytes, int selector) {
    int value = (int) (bytes >>> (selector & 7) * 8) & 0xff;
    return (selector & 8) != 0 ? (byte) value >> 7 & 0xff : value;
  }

  public static int permute(int a, int b, int c) {
    long bytes = wide(a, b);
    return byteOf(bytes, c & 15)
        | byteOf(bytes, c >> 4 & 15) << 8
        | byteOf(bytes, c >> 8 & 15) << 16
        | byteOf(bytes, c >> 12 & 15) << 24;
  }

  public static int permuteForwardFour(int a, int b, int c) {
    return (int) (wide(a, b) >>> (c & 3) * 8);
  }

  public static int permuteBackwardFour(int a, int b, int c) {
    int[] selectors = {0x5670, 0x6701, 0x7012, 0x0123};
    return permute(a, b, selectors[c & 3]);
  }

  public static int permuteReplicate8(int a, int b, int c) {
    return permute(a, b, (c & 3) * 0x1111);
  }

  public static int permuteReplicate16(int a, int b, int c) {
    return permute(a, b, (c & 1) == 0 ? 0x1010 : 0x3232);
  }

  public static int permuteEdgeLeft(int a, int b, int c) {
    int[] selectors = {0x3210, 0x3211, 0x3222, 0x3333};
    return permute(a, b, selectors[c & 3]);
  }

  public static int permuteEdgeRight(int a, int b, int c) {
    int[] selectors = {0x0000, 0x1110, 0x2210, 0x3210};
    return permute(a, b, selectors[c & 3]);
  }
}
