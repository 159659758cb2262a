package graft.remoting.software.object;

import graft.remoting.software.exec.LoadedKernel;
import graft.remoting.software.lowering.Program;
import java.util.Arrays;

/** A CUfunction: a kernel in a context, with the attributes that a program can set. */
public final class FunctionRef {
  /**
   * The number of registers that is reported for a thread; nothing in this device depends on it.
   */
  public static final int REGISTERS = 32;

  private static final int INVALID_CLUSTER_SIZE = 912;

  private final Context context;
  private final LoadedKernel kernel;
  private final Object module;
  private final int target;
  private volatile int maxDynamicShared;
  private volatile int carveout = -1;
  private volatile boolean nonPortableClusters;

  public FunctionRef(Context context, LoadedKernel kernel, Object module, int target) {
    this.context = context;
    this.kernel = kernel;
    this.module = module;
    this.target = target;
    this.maxDynamicShared =
        Math.max(0, DeviceAttributes.SHARED_PER_BLOCK - kernel.program().sharedBytes());
  }

  public Context context() {
    return context;
  }

  public LoadedKernel kernel() {
    return kernel;
  }

  /** Returns the module or library that the function was found in. */
  public Object module() {
    return module;
  }

  public Program program() {
    return kernel.program();
  }

  public int maxThreads() {
    int said = program().launchBounds().maxThreads();
    return said > 0
        ? Math.min(said, DeviceAttributes.MAX_THREADS_PER_BLOCK)
        : DeviceAttributes.MAX_THREADS_PER_BLOCK;
  }

  public int maxDynamicShared() {
    return maxDynamicShared;
  }

  /** The value of a CUfunction_attribute, or -1 if there is none of that number. */
  public int attribute(int number) {
    return switch (number) {
      case 0 -> maxThreads();
      case 1 -> program().sharedBytes();
      case 3 -> program().kernel().frameBytes();
      case 4 -> REGISTERS;
      case 5 -> target;
      case 6 -> context.gpu().computeMajor() * 10 + context.gpu().computeMinor();
      case 8 -> maxDynamicShared;
      case 9 -> carveout;
      case 11, 12, 13 -> {
        int[] cluster = program().launchBounds().cluster();
        yield cluster == null ? 0 : cluster[number - 11];
      }
      case 14 -> nonPortableClusters ? 1 : 0;
      default -> number >= 0 && number <= 15 ? 0 : -1;
    };
  }

  /** Sets an attribute. Returns false if the attribute cannot have that value. */
  public boolean setAttribute(int number, int value) {
    switch (number) {
      case 8 -> {
        if (value < 0 || value + program().sharedBytes() > DeviceAttributes.SHARED_OPT_IN) {
          return false;
        }
        maxDynamicShared = value;
        return true;
      }
      case 9 -> {
        carveout = value;
        return value >= -1 && value <= 100;
      }
      case 14 -> {
        nonPortableClusters = value != 0;
        return true;
      }
      case 15 -> {
        return true;
      }
      default -> {
        return false;
      }
    }
  }

  /** Returns the largest number of blocks in a cluster. */
  public int largestCluster() {
    return nonPortableClusters
        ? DeviceAttributes.LARGEST_CLUSTER
        : DeviceAttributes.PORTABLE_CLUSTER;
  }

  /**
   * Returns the shape of the clusters of a launch.
   *
   * @param asked the shape that the launch requests, or null
   */
  public int[] cluster(int[] asked) {
    int[] required = program().launchBounds().cluster();
    int[] shape = asked != null ? asked : required != null ? required : new int[] {1, 1, 1};
    if (shape[0] < 1
        || shape[1] < 1
        || shape[2] < 1
        || (long) shape[0] * shape[1] * shape[2] > largestCluster()
        || required != null && !Arrays.equals(shape, required)) {
      throw new CudaException(
          INVALID_CLUSTER_SIZE, "bad cluster size, at most " + largestCluster() + " blocks");
    }
    return shape;
  }

  /** Returns how many blocks a multiprocessor can run at once. */
  public int occupancy(int blockSize, long dynamicShared) {
    if (blockSize > maxThreads()) {
      return 0;
    }
    int threads = (blockSize + 31) & -32;
    long shared = program().dynamicSharedOffset() + dynamicShared;
    if (shared > DeviceAttributes.SHARED_OPT_IN) {
      return 0;
    }
    int byThreads = DeviceAttributes.THREADS_PER_MULTIPROCESSOR / threads;
    int byRegisters = DeviceAttributes.REGISTERS / (REGISTERS * threads);
    long byShared =
        DeviceAttributes.SHARED_PER_MULTIPROCESSOR / (shared + DeviceAttributes.SHARED_RESERVED);
    return (int)
        Math.min(
            Math.min(DeviceAttributes.BLOCKS_PER_MULTIPROCESSOR, byShared),
            Math.min(byThreads, byRegisters));
  }
}
