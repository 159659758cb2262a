package graft.remoting.device;

/**
 * How many bytes a copy or a fill reaches over. Its sizes are a program's and may be anything: what
 * is negative, or does not fit into 63 bits, is {@link #TOO_LARGE}, and so is every sum and product
 * with it. No memory has so much.
 */
public final class Extent {
  /** A negative number, so that a comparison with a size refuses it. */
  public static final long TOO_LARGE = -1;

  private Extent() {}

  /** {@code a + b} bytes. */
  public static long plus(long a, long b) {
    return a < 0 || b < 0 || a > Long.MAX_VALUE - b ? TOO_LARGE : a + b;
  }

  /** {@code a * b} bytes. */
  public static long times(long a, long b) {
    return a < 0 || b < 0 || Math.multiplyHigh(a, b) != 0 || a * b < 0 ? TOO_LARGE : a * b;
  }

  /**
   * From the first to behind the last byte of rows; 0 if there is none.
   *
   * @param width bytes of a row
   * @param pitch bytes from row to row
   */
  public static long rows(long pitch, long width, long height) {
    return box(width, height, 1, pitch, 0);
  }

  /**
   * From the first to behind the last byte of a box; 0 if the box is empty.
   *
   * @param width bytes of a row
   * @param pitch bytes from row to row
   * @param slice bytes from slice to slice
   */
  public static long box(long width, long height, long depth, long pitch, long slice) {
    if (width == 0 || height == 0 || depth == 0) {
      return 0;
    }
    if (width < 0 || height < 0 || depth < 0) {
      return TOO_LARGE;
    }
    long rows = times(height - 1, height > 1 ? pitch : 0);
    long slices = times(depth - 1, depth > 1 ? slice : 0);
    return plus(plus(slices, rows), width);
  }

  /** Whether {@code bytes} from {@code offset} on lie in {@code size} bytes. */
  public static boolean fits(long offset, long bytes, long size) {
    return offset >= 0 && bytes >= 0 && bytes <= size && offset <= size - bytes;
  }
}
