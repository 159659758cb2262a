package graft.remoting.software.exec;

import graft.remoting.software.ir.MatrixOperation;
import graft.remoting.software.ir.MatrixType;
import graft.remoting.software.math.BfloatMath;
import graft.remoting.software.math.EightBitFloats;
import graft.remoting.software.math.HalfMath;

/**
 * Products of small matrices. Integers are exact. PTX does not define the order and the rounding of
 * sums of floating-point products; they are computed in double and rounded once.
 */
final class MatrixMath {
  private MatrixMath() {}

  /** The number that an element's bits mean. */
  static double decode(MatrixType type, long bits) {
    return switch (type) {
      case B1, U4, U8 -> bits;
      case S4 -> bits << 60 >> 60;
      case S8 -> (byte) bits;
      case S32 -> (int) bits;
      case E4M3 -> EightBitFloats.fromE4m3((int) bits);
      case E5M2 -> EightBitFloats.fromE5m2((int) bits);
      case F16 -> HalfMath.toFloat((int) bits);
      case BF16 -> BfloatMath.toFloat((int) bits);
      // The low 13 bits are ignored.
      case TF32 -> Float.intBitsToFloat((int) bits & ~0x1fff);
      case F32 -> Float.intBitsToFloat((int) bits);
      case F64 -> Double.longBitsToDouble(bits);
    };
  }

  /** The bits of an element of a result. */
  static long encode(MatrixType type, double value, boolean saturated) {
    return switch (type) {
      case F16 -> HalfMath.fromDouble(value);
      case F32 -> {
        float f = (float) value;
        yield Float.isNaN(f) ? 0x7fffffff : Float.floatToRawIntBits(f);
      }
      case F64 -> Double.doubleToRawLongBits(value);
      default -> saturated ? (int) value : (int) (long) value;
    };
  }

  /** Adds the product of a matrix and another, stored row by row, to {@code sums}. */
  static void multiply(
      MatrixOperation.Product product,
      MatrixType type,
      double[] left,
      double[] right,
      double[] sums,
      int columns) {
    int depth = right.length / columns;
    for (int at = 0; at < left.length; at++) {
      int row = at / depth * columns;
      int other = at % depth * columns;
      if (type == MatrixType.F64) {
        addFused(left[at], right, other, sums, row, columns);
      } else if (product == MatrixOperation.Product.XOR) {
        addDifferent(left[at], right, other, sums, row, columns);
      } else {
        // Products are exact, as both factors have few bits.
        add(left[at], right, other, sums, row, columns);
      }
    }
  }

  private static void add(double a, double[] b, int from, double[] sums, int to, int columns) {
    for (int c = 0; c < columns; c++) {
      sums[to + c] += a * b[from + c];
    }
  }

  private static void addFused(double a, double[] b, int from, double[] sums, int to, int columns) {
    for (int c = 0; c < columns; c++) {
      sums[to + c] = Math.fma(a, b[from + c], sums[to + c]);
    }
  }

  private static void addDifferent(
      double a, double[] b, int from, double[] sums, int to, int columns) {
    for (int c = 0; c < columns; c++) {
      sums[to + c] += a == b[from + c] ? 0 : 1;
    }
  }
}
