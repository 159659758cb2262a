package graft.remoting.software.exec;

import graft.remoting.software.ir.MatrixOperation;
import graft.remoting.software.ir.MatrixType;

/**
 * Products of small matrices. Integers are exact. PTX leaves the order and the rounding of sums of
 * floating-point products open: here they are computed in double and rounded once.
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
      // The low 13 bits are not looked at.
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

  /** Adds the product of a matrix and another, row by row, to {@code sums}. */
  static void multiply(
      MatrixOperation.Product product,
      MatrixType type,
      double[] left,
      double[] right,
      double[] sums,
      int columns) {
    int depth = right.length / columns;
    for (int at = 0; at < sums.length; at++) {
      int row = at / columns * depth;
      int column = at % columns;
      double sum = sums[at];
      for (int k = 0; k < depth; k++) {
        double a = left[row + k];
        double b = right[k * columns + column];
        if (type == MatrixType.F64) {
          sum = Math.fma(a, b, sum);
        } else {
          // Exact: both factors have few bits.
          sum += product == MatrixOperation.Product.XOR ? (a == b ? 0 : 1) : a * b;
        }
      }
      sums[at] = sum;
    }
  }
}
