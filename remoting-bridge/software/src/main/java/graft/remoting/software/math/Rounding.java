package graft.remoting.software.math;

import java.math.BigDecimal;

/**
 * Arithmetic with directed rounding (PTX ISA, ".rz", ".rm", ".rp"): the nearest result is moved by
 * one step if the exact result requires it. Modes: 0 nearest, 1 towards zero, 2 down, 3 up.
 */
public final class Rounding {
  private Rounding() {}

  /** Rounds an exact value, given the nearest double and the side of it on which the value lies. */
  private static double move(double nearest, int side, int mode) {
    if (side == 0 || mode == 0) {
      return nearest;
    }
    boolean down = mode == 2 || mode == 1 && (nearest > 0 || nearest == 0 && side > 0);
    if (mode == 1 && nearest == 0) {
      return nearest;
    }
    if (down) {
      return side < 0 ? Math.nextDown(nearest) : nearest;
    }
    return side > 0 ? Math.nextUp(nearest) : nearest;
  }

  private static float move(float nearest, int side, int mode) {
    if (side == 0 || mode == 0 || mode == 1 && nearest == 0) {
      return nearest;
    }
    boolean down = mode == 2 || mode == 1 && nearest > 0;
    if (down) {
      return side < 0 ? Math.nextDown(nearest) : nearest;
    }
    return side > 0 ? Math.nextUp(nearest) : nearest;
  }

  /**
   * Returns on which side of the nearest double the exact value lies: -1 below, 0 exact, 1 above.
   */
  private static int side(BigDecimal exact, double nearest) {
    if (Double.isInfinite(nearest)) {
      return nearest > 0 ? -1 : 1;
    }
    return exact.compareTo(new BigDecimal(nearest));
  }

  private static boolean finite(double a, double b) {
    return Double.isFinite(a) && Double.isFinite(b);
  }

  private static double zeroSum(double nearest, double a, double b, int mode) {
    // x - x is -0 when rounding down; only the sum of two positive zeros is +0.
    return nearest == 0 && mode == 2 && !(a == 0 && b == 0 && 1 / a > 0 && 1 / b > 0)
        ? -0d
        : nearest;
  }

  public static double add(double a, double b, int mode) {
    double nearest = a + b;
    if (!finite(a, b)) {
      return nearest;
    }
    BigDecimal exact = new BigDecimal(a).add(new BigDecimal(b));
    return exact.signum() == 0
        ? zeroSum(nearest, a, b, mode)
        : move(nearest, side(exact, nearest), mode);
  }

  public static float add(float a, float b, int mode) {
    float nearest = a + b;
    if (!finite(a, b)) {
      return nearest;
    }
    BigDecimal exact = new BigDecimal((double) a).add(new BigDecimal((double) b));
    return exact.signum() == 0
        ? (float) zeroSum(nearest, a, b, mode)
        : move(nearest, side(exact, nearest), mode);
  }

  public static double sub(double a, double b, int mode) {
    return add(a, -b, mode);
  }

  public static float sub(float a, float b, int mode) {
    return add(a, -b, mode);
  }

  public static double mul(double a, double b, int mode) {
    double nearest = a * b;
    return !finite(a, b) || a == 0 || b == 0
        ? nearest
        : signed(
            move(nearest, side(new BigDecimal(a).multiply(new BigDecimal(b)), nearest), mode),
            nearest);
  }

  public static float mul(float a, float b, int mode) {
    float nearest = a * b;
    return !finite(a, b) || a == 0 || b == 0
        ? nearest
        : (float)
            signed(
                move(
                    nearest,
                    side(new BigDecimal((double) a).multiply(new BigDecimal((double) b)), nearest),
                    mode),
                nearest);
  }

  /** Gives a result that became zero the sign of the nearest result. */
  private static double signed(double result, double nearest) {
    return result == 0 ? Math.copySign(0d, nearest) : result;
  }

  public static double fma(double a, double b, double c, int mode) {
    double nearest = Math.fma(a, b, c);
    if (!finite(a, b) || !Double.isFinite(c)) {
      return nearest;
    }
    BigDecimal exact = new BigDecimal(a).multiply(new BigDecimal(b)).add(new BigDecimal(c));
    if (exact.signum() == 0) {
      boolean positive = 1 / c > 0 && Math.copySign(1, a) * Math.copySign(1, b) > 0;
      return mode == 2 && !(c == 0 && positive) ? -0d : nearest;
    }
    return signed(move(nearest, side(exact, nearest), mode), exact.signum());
  }

  public static float fma(float a, float b, float c, int mode) {
    float nearest = Math.fma(a, b, c);
    if (!finite(a, b) || !Float.isFinite(c)) {
      return nearest;
    }
    BigDecimal exact =
        new BigDecimal((double) a)
            .multiply(new BigDecimal((double) b))
            .add(new BigDecimal((double) c));
    if (exact.signum() == 0) {
      boolean positive = 1 / c > 0 && Math.copySign(1, a) * Math.copySign(1, b) > 0;
      return mode == 2 && !(c == 0 && positive) ? -0f : nearest;
    }
    return (float) signed(move(nearest, side(exact, nearest), mode), exact.signum());
  }

  private static int quotientSide(double a, double b, double nearest) {
    if (Double.isInfinite(nearest)) {
      return nearest > 0 ? -1 : 1;
    }
    // a / b - q has the sign of (a - q * b) * b.
    BigDecimal rest =
        new BigDecimal(a).subtract(new BigDecimal(nearest).multiply(new BigDecimal(b)));
    return rest.signum() * (b < 0 ? -1 : 1);
  }

  public static double div(double a, double b, int mode) {
    double nearest = a / b;
    return !finite(a, b) || a == 0 || b == 0
        ? nearest
        : signed(move(nearest, quotientSide(a, b, nearest), mode), nearest);
  }

  public static float div(float a, float b, int mode) {
    float nearest = a / b;
    return !finite(a, b) || a == 0 || b == 0
        ? nearest
        : (float) signed(move(nearest, quotientSide(a, b, nearest), mode), nearest);
  }

  public static double rcp(double a, int mode) {
    return div(1d, a, mode);
  }

  public static float rcp(float a, int mode) {
    return div(1f, a, mode);
  }

  public static double sqrt(double a, int mode) {
    double nearest = Math.sqrt(a);
    if (!(a > 0) || Double.isInfinite(a)) {
      return nearest;
    }
    BigDecimal root = new BigDecimal(nearest);
    return move(nearest, new BigDecimal(a).compareTo(root.multiply(root)), mode);
  }

  public static float sqrt(float a, int mode) {
    float nearest = (float) Math.sqrt(a);
    if (!(a > 0) || Float.isInfinite(a)) {
      return nearest;
    }
    BigDecimal root = new BigDecimal((double) nearest);
    return move(nearest, new BigDecimal((double) a).compareTo(root.multiply(root)), mode);
  }

  /** cvt.f32.f64 with directed rounding. */
  public static float toFloat(double a, int mode) {
    float nearest = (float) a;
    if (!Double.isFinite(a)) {
      return nearest;
    }
    return (float) signed(move(nearest, side(new BigDecimal(a), nearest), mode), a);
  }
}
