package graft.remoting.device;

/**
 * The number of bytes that a copy or a fill covers. The sizes come from a program and may have any
 * value: a size that is negative or does not fit into 63 bits is {@link #TOO_LARGE}, and so is
 * every sum and product with it. No memory is that large.
 */
public final class Extent {
  /** A negative number, so that comparing it with the size of memory refuses it. */
  public static final long TOO_LARGE = -1;

  private Extent() {}

  /** Returns {@code a + b} bytes. */
  public static long plus(long a, long b) {
    return a < 0 || b < 0 || a > Long.MAX_VALUE - b ? TOO_LARGE : a + b;
  }

  /** Returns {@code a * b} bytes. */
  public static long times(long a, long b) {
    return a < 0 || b < 0 || Math.multiplyHigh(a, b) != 0 || a * b < 0 ? TOO_LARGE : a * b;
  }

  /**
   * Returns the bytes from the start of the first row to the end of the last row; 0 if there are no
   * rows.
   *
   * @param width the bytes of a row
   * @param pitch the bytes from one row to the next
   */
  public static long rows(long pitch, long width, long height) {
    return box(width, height, 1, pitch, 0);
  }

  /**
   * Returns the bytes from the start of a box to its end; 0 if the box is empty.
   *
   * @param width the bytes of a row
   * @param pitch the bytes from one row to the next
   * @param slice the bytes from one slice to the next
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

  /** Returns whether {@code bytes} bytes from {@code offset} lie within {@code size} bytes. */
  public static boolean fits(long offset, long bytes, long size) {
    return offset >= 0 && bytes >= 0 && bytes <= size && offset <= size - bytes;
  }
}
