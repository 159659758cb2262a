package graft.remoting.software.ptx;

import java.util.List;

/**
 * A kernel or a device function.
 *
 * @param entry true for a kernel
 * @param name its name
 * @param returns return parameters (none for a kernel)
 * @param params parameters
 * @param body statements in order; null for a declaration
 * @param launch the limits from the performance directives
 * @param line the line on which it starts
 */
public record Function(
    boolean entry,
    String name,
    List<Variable> returns,
    List<Variable> params,
    List<Statement> body,
    LaunchBounds launch,
    int line) {

  /**
   * {@code .maxntid}, {@code .reqntid}, {@code .minnctapersm} and {@code .reqnctapercluster}.
   *
   * @param maxThreads the largest number of threads in a block, 0 if not given
   * @param required the exact block shape (x, y, z), null if not given
   * @param minBlocks the smallest number of blocks on a multiprocessor, 0 if not given
   * @param cluster the blocks of a cluster (x, y, z), null if not given
   */
  public record LaunchBounds(int maxThreads, int[] required, int minBlocks, int[] cluster) {}
}
