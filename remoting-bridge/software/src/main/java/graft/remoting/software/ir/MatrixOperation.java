package graft.remoting.software.ir;

/** What a warp does together with matrices (PTX ISA, "Warp Level Matrix Instructions"). */
public sealed interface MatrixOperation {
  /** Where in a thread's matrix words the fragments of A, B and C lie; D takes the place of C. */
  int A_WORDS = 0;

  int B_WORDS = 16;
  int C_WORDS = 32;

  /** Words that a thread has in all. */
  int WORDS = 48;

  /** How elements of one bit are multiplied: all others are multiplied as numbers. */
  enum Product {
    NUMBERS,
    AND,
    XOR
  }

  /**
   * {@code D = A x B + C}.
   *
   * @param saturated whether integer sums are clamped, not wrapped
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
   * Loads or stores 8x8 matrices of 16-bit elements, whose rows' addresses the lanes give, eight a
   * matrix; the addresses are in the first two words.
   *
   * @param count 1, 2 or 4 matrices
   */
  record Rows(int count, boolean transposed, boolean store) implements MatrixOperation {}

  /** Transposes an 8x8 matrix of 16-bit elements. */
  record Transpose() implements MatrixOperation {}
}
