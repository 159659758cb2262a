package graft.remoting.software.math;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums and products rounded as PTX says (.rn, .rz, .rm, .rp), against exact arithmetic. */
final class RoundingTest {
  private static final int CASES = 20_000;

  /** The float that an exact number, which is not 0, is rounded to. */
  private static float rounded(BigDecimal exact, int mode) {
    float near = exact.floatValue();
    boolean down = mode == 2 || mode == 1 && exact.signum() > 0;
    boolean up = mode == 3 || mode == 1 && exact.signum() < 0;
    if (down && (near == Float.POSITIVE_INFINITY || above(near, exact) > 0)) {
      return Math.nextDown(near);
    }
    if (up && (near == Float.NEGATIVE_INFINITY || above(near, exact) < 0)) {
      return Math.nextUp(near);
    }
    return near;
  }

  private static int above(float a, BigDecimal exact) {
    return Float.isInfinite(a) ? (a > 0 ? 1 : -1) : new BigDecimal(a).compareTo(exact);
  }

  /** Finite numbers of all sizes, with many near to each other. */
  private static float any(Random random) {
    int exponent = random.nextInt(4) == 0 ? random.nextInt(255) : 120 + random.nextInt(16);
    return Float.intBitsToFloat(
        random.nextInt(2) << 31
            | exponent << 23
            | random.nextInt(1 << 23) & -1 << random.nextInt(23));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void floatsAreRoundedOnce(int mode) {
    Random random = new Random(mode);
    for (int i = 0; i < CASES; i++) {
      float a = any(random);
      float b = any(random);
      float c = any(random);
      BigDecimal x = new BigDecimal(a);
      BigDecimal y = new BigDecimal(b);
      check(x.add(y), mode, Rounding.add(a, b, mode), "%s + %s", a, b);
      check(x.subtract(y), mode, Rounding.sub(a, b, mode), "%s - %s", a, b);
      check(x.multiply(y), mode, Rounding.mul(a, b, mode), "%s * %s", a, b);
      check(
          x.multiply(y).add(new BigDecimal(c)),
          mode,
          Rounding.fma(a, b, c, mode),
          "%s * %s + %s",
          a,
          b,
          c);
      double wide = a * (1 + random.nextInt() * 0x1p-52);
      check(new BigDecimal(wide), mode, Rounding.toFloat(wide, mode), "%s", wide);
    }
  }

  private static void check(BigDecimal exact, int mode, float actual, String what, Object... of) {
    if (exact.signum() != 0) { // the sign of a sum that is 0 depends on more than its value
      assertThat(actual).as(what, of).isEqualTo(rounded(exact, mode));
    }
  }
}
