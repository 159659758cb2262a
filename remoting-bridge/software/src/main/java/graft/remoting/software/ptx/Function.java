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
 * @param launch what the performance directives say
 * @param line where it starts
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
   * @param maxThreads most threads of a block, 0 if not said
   * @param required the exact block shape (x, y, z), null if not said
   * @param minBlocks least blocks of a multiprocessor, 0 if not said
   * @param cluster the blocks of a cluster (x, y, z), null if not said
   */
  public record LaunchBounds(int maxThreads, int[] required, int minBlocks, int[] cluster) {}
}
