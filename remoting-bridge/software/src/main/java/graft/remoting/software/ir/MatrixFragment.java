package graft.remoting.software.ir;

/**
 * How a matrix is spread over the lanes of a warp: a lane has some elements of it, packed in order
 * into 32-bit words.
 *
 * @param role which of the matrices of {@code D = A x B + C} it is; D is as C
 * @param rows its rows
 * @param columns its columns
 * @param type its elements
 * @param opaque true for wmma, where PTX leaves the order of elements open
 */
public record MatrixFragment(Role role, int rows, int columns, MatrixType type, boolean opaque) {

  /** Which matrix of {@code D = A x B + C} it is. */
  public enum Role {
    A,
    B,
    C
  }

  /** The fragment of one matrix of an {@code m x n x k} product. */
  public static MatrixFragment of(Role role, int m, int n, int k, MatrixType type, boolean opaque) {
    return new MatrixFragment(role, role == Role.B ? k : m, role == Role.A ? k : n, type, opaque);
  }

  /** Elements that each lane has. With f16 in wmma some are in two or four lanes. */
  public int elementsPerLane() {
    boolean repeated = opaque && type == MatrixType.F16 && role != Role.C;
    return repeated ? 16 : rows * columns / 32;
  }

  /** 32-bit words of a lane. */
  public int words() {
    return Math.max(1, elementsPerLane() * type.bits() / 32);
  }

  /**
   * The place of a lane's element in the matrix, row by row.
   *
   * <p>PTX ISA, "Matrix Fragments for mma": lanes form 8 groups of 4. A group has a row of A and of
   * C and a column of B; each lane of it has as many neighbours as fit 32 bits (of C: two), and
   * further elements are 8 rows or 4 such pieces away.
   */
  public int place(int lane, int element) {
    if (opaque) {
      return (lane * elementsPerLane() + element) % (rows * columns);
    }
    int group = lane >> 2;
    int inGroup = lane & 3;
    int piece = role == Role.C ? 2 : Math.max(1, 32 / type.bits());
    int across = inGroup * piece + element % piece;
    int number = element / piece;
    if (role == Role.B) {
      return (across + number * 4 * piece) * columns + group;
    }
    int tall = rows / 8;
    return (group + 8 * (number % tall)) * columns + across + number / tall * 4 * piece;
  }
}
