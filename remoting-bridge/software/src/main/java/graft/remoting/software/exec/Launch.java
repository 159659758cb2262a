package graft.remoting.software.exec;

import graft.remoting.software.memory.Native;
import java.util.concurrent.atomic.AtomicReference;

/** One launch of a kernel: its geometry, parameters and outcome. */
public final class Launch {
  /** The stack of a thread if calls are recursive, in bytes, unless the limit is higher. */
  private static final int RECURSIVE_STACK = 32 << 10;

  final LoadedKernel kernel;
  final KernelCode code;
  final GridRunner runner;
  final int gridX;
  final int gridY;
  final int gridZ;
  final int clusterX;
  final int clusterY;
  final int clusterZ;
  final int blockX;
  final int blockY;
  final int blockZ;
  final int threads;
  final int dynamicSharedBytes;
  final int multiprocessors;
  final int localStride;
  final int[] tidX;
  final int[] tidY;
  final int[] tidZ;
  final long gridId;
  long parameters;
  long gridBarrier;
  private final AtomicReference<DeviceFault> fault = new AtomicReference<>();

  /** The ids of the threads of a block along one axis, for all blocks of one shape. */
  private record Shape(int x, int y, int z, int[][] ids) {}

  private static volatile Shape lastShape = new Shape(0, 0, 0, null);

  /**
   * The size of a launch; sizes are along x, y and z.
   *
   * @param grid the blocks of the grid
   * @param cluster the blocks of a cluster, of which the grid has a whole number
   * @param block the threads of a block
   * @param dynamicSharedBytes the shared memory of a block beyond the kernel's own
   */
  public record Geometry(int[] grid, int[] cluster, int[] block, int dynamicSharedBytes) {}

  /**
   * Creates a launch.
   *
   * @param stackBytes the context's stack limit
   */
  public Launch(
      LoadedKernel kernel, GridRunner runner, Geometry size, int stackBytes, long gridId) {
    this.kernel = kernel;
    this.code = kernel.code();
    this.runner = runner;
    this.gridX = size.grid[0];
    this.gridY = size.grid[1];
    this.gridZ = size.grid[2];
    this.clusterX = size.cluster[0];
    this.clusterY = size.cluster[1];
    this.clusterZ = size.cluster[2];
    this.blockX = size.block[0];
    this.blockY = size.block[1];
    this.blockZ = size.block[2];
    this.threads = blockX * blockY * blockZ;
    this.dynamicSharedBytes = size.dynamicSharedBytes;
    this.multiprocessors = runner.multiprocessors();
    this.gridId = gridId;
    this.localStride =
        kernel.program().isRecursive()
            ? Math.max(kernel.program().stackBytes() + RECURSIVE_STACK, stackBytes)
            : kernel.program().stackBytes();
    Shape shape = lastShape;
    if (shape.x != blockX || shape.y != blockY || shape.z != blockZ) {
      shape = new Shape(blockX, blockY, blockZ, ids(blockX, blockY, blockZ));
      lastShape = shape;
    }
    this.tidX = shape.ids[0];
    this.tidY = shape.ids[1];
    this.tidZ = shape.ids[2];
  }

  private static int[][] ids(int x, int y, int z) {
    int[][] ids = new int[3][x * y * z];
    for (int t = 0; t < x * y * z; t++) {
      ids[0][t] = t % x;
      ids[1][t] = t / x % y;
      ids[2][t] = t / x / y;
    }
    return ids;
  }

  /**
   * Runs the kernel and waits for its end.
   *
   * @param parameterBytes the parameter buffer
   * @param cooperative whether the blocks may wait for each other at a grid barrier
   * @throws DeviceFault if a thread did what ends a kernel
   */
  public void run(byte[] parameterBytes, boolean cooperative) {
    // The extra bytes are for reading a vector that begins in the last parameter.
    long bytes = parameterBytes.length + 64L;
    long buffer = Native.UNSAFE.allocateMemory(bytes);
    try {
      Native.UNSAFE.setMemory(buffer, bytes, (byte) 0);
      // The parameters are followed by the word at which the blocks of a cooperative launch count.
      Native.put(buffer + 16, parameterBytes, parameterBytes.length);
      parameters = buffer + 16;
      if (cooperative) {
        gridBarrier = runner.newGridBarrier();
      }
      runner.run(this);
    } finally {
      Native.UNSAFE.freeMemory(buffer);
      if (gridBarrier != 0) {
        runner.freeGridBarrier(gridBarrier);
      }
    }
    DeviceFault found = fault.get();
    if (found != null) {
      throw found;
    }
  }

  int clusterSize() {
    return clusterX * clusterY * clusterZ;
  }

  int clustersX() {
    return gridX / clusterX;
  }

  int clustersY() {
    return gridY / clusterY;
  }

  long clusters() {
    return (long) gridX * gridY * gridZ / clusterSize();
  }

  boolean isAborted() {
    return fault.get() != null;
  }

  void abort(DeviceFault found) {
    fault.compareAndSet(null, found);
  }
}
