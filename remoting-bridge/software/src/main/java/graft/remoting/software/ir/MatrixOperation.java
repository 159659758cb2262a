package graft.remoting.software.ir;

/** A matrix operation that a warp executes together (PTX ISA, "Warp Level Matrix Instructions"). */
public sealed interface MatrixOperation {
  /** The positions of the fragments of A, B and C in a thread's matrix words; D replaces C. */
  int A_WORDS = 0;

  int B_WORDS = 16;
  int C_WORDS = 32;

  /** The number of matrix words of a thread. */
  int WORDS = 48;

  /** How elements of one bit are multiplied; all other elements are multiplied as numbers. */
  enum Product {
    NUMBERS,
    AND,
    XOR
  }

  /**
   * {@code D = A x B + C}.
   *
   * @param saturated whether integer sums are clamped; otherwise they wrap
   */
  record Multiply(
      MatrixFragment a,
      MatrixFragment b,
      MatrixFragment c,
      MatrixFragment d,
      Product product,
      boolean saturated)
      implements MatrixOperation {}

  /**
   * Loads or stores 8x8 matrices of 16-bit elements. The lanes provide the addresses of the rows,
   * eight a matrix, in their first two words.
   *
   * @param count 1, 2 or 4 matrices
   */
  record Rows(int count, boolean transposed, boolean store) implements MatrixOperation {}

  /** Transposes an 8x8 matrix of 16-bit elements. */
  record Transpose() implements MatrixOperation {}
}
