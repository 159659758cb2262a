package graft.remoting.software.math;

/** Masks of the lanes around a lane (PTX ISA, "%lanemask_lt" and similar registers). */
public final class WarpMath {
  private WarpMath() {}

  public static int isMoreThanOne(int count) {
    return count > 1 ? 1 : 0;
  }

  public static int laneMaskEq(int lane) {
    return 1 << lane;
  }

  public static int laneMaskLe(int lane) {
    return -1 >>> (31 - lane);
  }

  public static int laneMaskLt(int lane) {
    return (1 << lane) - 1;
  }

  public static int laneMaskGe(int lane) {
    return -1 << lane;
  }

  public static int laneMaskGt(int lane) {
    return -2 << lane;
  }
}
