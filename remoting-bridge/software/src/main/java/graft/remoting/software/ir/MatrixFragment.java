package graft.remoting.software.ir;

/**
 * How a matrix is distributed over the lanes of a warp: each lane has some elements, packed in
 * order into 32-bit words.
 *
 * @param role which of the matrices of {@code D = A x B + C} this is; D is like C
 * @param rows the number of rows
 * @param columns the number of columns
 * @param type the type of the elements
 * @param opaque true for wmma, where PTX does not define the order of elements
 */
public record MatrixFragment(Role role, int rows, int columns, MatrixType type, boolean opaque) {

  /** Which matrix of {@code D = A x B + C} a fragment belongs to. */
  public enum Role {
    A,
    B,
    C
  }

  /** The fragment of one matrix of an {@code m x n x k} product. */
  public static MatrixFragment of(Role role, int m, int n, int k, MatrixType type, boolean opaque) {
    return new MatrixFragment(role, role == Role.B ? k : m, role == Role.A ? k : n, type, opaque);
  }

  /**
   * Returns the number of elements of each lane. With f16 in wmma, some elements are in two or four
   * lanes.
   */
  public int elementsPerLane() {
    boolean repeated = opaque && type == MatrixType.F16 && role != Role.C;
    return repeated ? 16 : rows * columns / 32;
  }

  /** 32-bit words of a lane. */
  public int words() {
    return Math.max(1, elementsPerLane() * type.bits() / 32);
  }

  /**
   * Returns the position of a lane's element in the matrix, row by row.
   *
   * <p>PTX ISA, "Matrix Fragments for mma": lanes form 8 groups of 4. A group has a row of A and of
   * C and a column of B. Each lane of the group has as many adjacent elements as fit into 32 bits
   * (of C: two), and its further elements are 8 rows or 4 such runs away.
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
