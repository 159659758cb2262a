package graft.remoting.software.math;

/** PTX ISA, "SIMD Video Instructions": two or four numbers in a word, each on its own. */
public final class VideoMath {
  private VideoMath() {}

  /** What is done with each pair of numbers. */
  private enum Operation {
    VADD,
    VSUB,
    VABSDIFF,
    VMIN,
    VMAX
  }

  /**
   * The lanes of {@code a} and {@code b}, put together again.
   *
   * @param operation its number among vadd, vsub, vabsdiff, vmin, vmax
   * @param bits of a lane: 8 or 16
   * @param signs which of result (1), a (2) and b (4) are signed
   * @param saturated whether results are clamped, else they are cut
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

  /** The sum of what all lanes give and {@code c} (.add). */
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
