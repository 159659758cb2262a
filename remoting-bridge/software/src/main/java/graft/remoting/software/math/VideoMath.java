package graft.remoting.software.math;

/** PTX ISA, "SIMD Video Instructions": two or four numbers in a word, each computed separately. */
public final class VideoMath {
  private VideoMath() {}

  /** The operation on each pair of numbers. */
  private enum Operation {
    VADD,
    VSUB,
    VABSDIFF,
    VMIN,
    VMAX
  }

  /**
   * Applies an operation to the lanes of {@code a} and {@code b}.
   *
   * @param operation its number among vadd, vsub, vabsdiff, vmin, vmax
   * @param bits the width of a lane: 8 or 16
   * @param signs which of result (1), a (2) and b (4) are signed
   * @param saturated whether results are clamped; otherwise they are truncated
   */
  public static int lanes(int a, int b, int operation, int bits, int signs, int saturated) {
    int result = 0;
    for (int at = 0; at < 32; at += bits) {
      int value = one(a, b, at, operation, bits, signs);
      if (saturated != 0) {
        int least = (signs & 1) == 0 ? 0 : -(1 << bits - 1);
        value = Math.max(least, Math.min(value, least + (1 << bits) - 1));
      }
      result |= (value & (1 << bits) - 1) << at;
    }
    return result;
  }

  /** Returns the sum of the results of all lanes and {@code c} (.add). */
  public static int sum(int a, int b, int c, int operation, int bits, int signs) {
    int sum = c;
    for (int at = 0; at < 32; at += bits) {
      sum += one(a, b, at, operation, bits, signs);
    }
    return sum;
  }

  private static int one(int a, int b, int at, int operation, int bits, int signs) {
    int x = lane(a, at, bits, (signs & 2) != 0);
    int y = lane(b, at, bits, (signs & 4) != 0);
    return switch (Operation.values()[operation]) {
      case VADD -> x + y;
      case VSUB -> x - y;
      case VABSDIFF -> Math.abs(x - y);
      case VMIN -> Math.min(x, y);
      case VMAX -> Math.max(x, y);
    };
  }

  private static int lane(int word, int at, int bits, boolean signed) {
    int upper = word << 32 - bits - at;
    return signed ? upper >> 32 - bits : upper >>> 32 - bits;
  }
}
