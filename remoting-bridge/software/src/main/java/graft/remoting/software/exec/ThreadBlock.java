package graft.remoting.software.exec;

import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.MatrixOperation;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.Native;
import java.util.Arrays;

/**
 * A running block of threads. One Java thread at a time runs it, and generated code accesses its
 * fields. Per-thread state is in arrays indexed by the thread.
 */
public final class ThreadBlock implements AutoCloseable {
  /** Named barriers of PTX. */
  static final int BARRIERS = 16;

  // Of the device.
  final DeviceMemory memory;
  final long base;
  final long granules;
  final long table;

  // Of the launch.
  Launch launch;
  public int threads;
  public int[] tidX;
  public int[] tidY;
  public int[] tidZ;
  public int ntidX;
  public int ntidY;
  public int ntidZ;
  public int nctaidX;
  public int nctaidY;
  public int nctaidZ;
  public int multiprocessor;
  public int multiprocessors;
  public long gridId;
  public int dynamicShared;
  public int dynamicSharedBytes;
  public int sharedBytes;
  public long parameters;
  public long[] symbols;
  public int localStride;
  public int gridBarrierLow;
  public int gridBarrierHigh;

  // Of this block.
  public int ctaidX;
  public int ctaidY;
  public int ctaidZ;

  // Its cluster, and its position there.
  Cluster cluster;
  public int clusterSize;
  public int clusterNctaidX;
  public int clusterNctaidY;
  public int clusterNctaidZ;
  public int nclusteridX;
  public int nclusteridY;
  public int nclusteridZ;
  public int clusteridX;
  public int clusteridY;
  public int clusteridZ;
  public int clusterCtaidX;
  public int clusterCtaidY;
  public int clusterCtaidZ;
  public int clusterRank;

  /** How often each thread arrived at the cluster's barrier. */
  int[] clusterPhase = new int[0];

  /**
   * The region that a thread is to run, or the point where it waits, or {@link KernelCode#EXITED}.
   */
  public int[] pc = new int[0];

  /**
   * The registers of threads that are not running, slot by slot; a slot has all threads in order.
   */
  public int[] ints = new int[0];

  public long[] longs = new long[0];

  /** The arguments of threads at a synchronization point, and the results. */
  public int[] argument0 = new int[0];

  public int[] argument1;
  public int[] argument2;
  public int[] mask;
  public int[] result0;
  public int[] result1;

  /** The matrix fragments of waiting threads, and their results. */
  int[] matrixWords = new int[0];

  public long sharedBase;
  public long localBase;

  /** The start of the allocation that each instruction of the kernel found last. */
  public long[] windowLow = new long[0];

  /**
   * Its size: in elements of the access plus {@link Long#MIN_VALUE}, so that nothing fits at first,
   * or in bytes if all threads' addresses are checked at once.
   */
  public long[] windowSize = new long[0];

  /** How often each instruction searched for its allocation. */
  int[] windowMisses = new int[0];

  /** The number of threads that passed bar.arrive, for each barrier. */
  private final int[] arrived = new int[BARRIERS];

  private final int[] arrivedCount = new int[BARRIERS];

  /** The upper half of the number of 128 bits that was read last. */
  public long wideHigh;

  /** The last texel that was read, as raw bits. */
  final int[] texel = new int[4];

  /** The thread that last paused the block, and when the pause ended. */
  int lastSleeper = -1;

  long lastSleepEnd;

  private long sharedCapacity;
  private long localCapacity;

  ThreadBlock(DeviceMemory memory) {
    this.memory = memory;
    this.base = memory.base();
    this.granules = memory.granules();
    this.table = memory.table();
  }

  /** Prepares for the blocks of a launch. */
  void prepare(Launch next, int processor) {
    launch = next;
    threads = next.threads;
    tidX = next.tidX;
    tidY = next.tidY;
    tidZ = next.tidZ;
    ntidX = next.blockX;
    ntidY = next.blockY;
    ntidZ = next.blockZ;
    nctaidX = next.gridX;
    nctaidY = next.gridY;
    nctaidZ = next.gridZ;
    clusterNctaidX = next.clusterX;
    clusterNctaidY = next.clusterY;
    clusterNctaidZ = next.clusterZ;
    clusterSize = next.clusterSize();
    nclusteridX = next.clustersX();
    nclusteridY = next.clustersY();
    nclusteridZ = next.gridZ / next.clusterZ;
    multiprocessor = processor;
    multiprocessors = next.multiprocessors;
    gridId = next.gridId;
    dynamicShared = next.kernel.dynamicSharedOffset();
    dynamicSharedBytes = next.dynamicSharedBytes;
    sharedBytes = dynamicShared + dynamicSharedBytes;
    parameters = next.parameters;
    symbols = next.kernel.symbols();
    gridBarrierLow = (int) next.gridBarrier;
    gridBarrierHigh = (int) (next.gridBarrier >>> 32);
    localStride = next.localStride;
    reserveNative();
    KernelCode code = next.code;
    int sites = code.accessSites();
    if (windowLow.length < sites) {
      windowLow = new long[sites];
      windowSize = new long[sites];
      windowMisses = new int[sites];
    }
    // Allocations may have been freed since the last launch.
    Arrays.fill(windowLow, 0, sites, 0);
    Arrays.fill(windowSize, 0, sites, Long.MIN_VALUE);
    Arrays.fill(windowMisses, 0, sites, 0);
    if (code.synchronizes() || code.intSlots() + code.longSlots() > 0) {
      reserveArrays(code);
    }
    if (pc.length < threads) {
      pc = new int[threads];
    }
  }

  private void reserveArrays(KernelCode code) {
    if (ints.length < code.intSlots() * threads) {
      ints = new int[code.intSlots() * threads];
    }
    if (longs.length < code.longSlots() * threads) {
      longs = new long[code.longSlots() * threads];
    }
    if (code.usesMatrices() && matrixWords.length < threads * MatrixOperation.WORDS) {
      matrixWords = new int[threads * MatrixOperation.WORDS];
    }
    if (clusterPhase.length < threads) {
      clusterPhase = new int[threads];
    }
    if (argument0.length < threads) {
      argument0 = new int[threads];
      argument1 = new int[threads];
      argument2 = new int[threads];
      mask = new int[threads];
      result0 = new int[threads];
      result1 = new int[threads];
    }
  }

  private void reserveNative() {
    if (sharedCapacity < sharedBytes) {
      if (sharedBase != 0) {
        Native.UNSAFE.freeMemory(sharedBase);
      }
      sharedBase = 0;
      sharedBase = Native.UNSAFE.allocateMemory(sharedBytes + 1024L);
      sharedCapacity = sharedBytes;
    }
    long local = (long) localStride * threads;
    if (localCapacity < local) {
      if (localBase != 0) {
        Native.UNSAFE.freeMemory(localBase);
      }
      localBase = 0;
      // The extra bytes are for a callee that declares more parameters than its caller passes.
      localBase = Native.UNSAFE.allocateMemory(local + FunctionIr.LARGEST_FRAME + 64);
      localCapacity = local;
    }
  }

  /** Starts the block of a rank in a cluster. */
  void start(int clusterX, int clusterY, int clusterZ, int rank) {
    clusteridX = clusterX;
    clusteridY = clusterY;
    clusteridZ = clusterZ;
    clusterRank = rank;
    clusterCtaidX = rank % clusterNctaidX;
    clusterCtaidY = rank / clusterNctaidX % clusterNctaidY;
    clusterCtaidZ = rank / clusterNctaidX / clusterNctaidY;
    ctaidX = clusterX * clusterNctaidX + clusterCtaidX;
    ctaidY = clusterY * clusterNctaidY + clusterCtaidY;
    ctaidZ = clusterZ * clusterNctaidZ + clusterCtaidZ;
    Arrays.fill(clusterPhase, 0);
    lastSleeper = -1;
    Arrays.fill(pc, 0, threads, 0);
    Arrays.fill(arrived, 0);
    Arrays.fill(arrivedCount, 0);
  }

  /** bar.arrive: counts a thread that does not wait as arrived. */
  public static void arrive(ThreadBlock b, int barrier, int count) {
    b.arrived[barrier & 15]++;
    b.arrivedCount[barrier & 15] = count;
  }

  int arrived(int barrier) {
    return arrived[barrier];
  }

  void clearArrived(int barrier) {
    arrived[barrier] = 0;
  }

  /** The real start of shared memory, which malloc aligns to 16 and kernels may want at 1024. */
  String where(int thread) {
    if (thread < 0) {
      return "block (" + ctaidX + "," + ctaidY + "," + ctaidZ + ")";
    }
    return "block ("
        + ctaidX
        + ","
        + ctaidY
        + ","
        + ctaidZ
        + ") thread ("
        + tidX[thread]
        + ","
        + tidY[thread]
        + ","
        + tidZ[thread]
        + ")";
  }

  @Override
  public void close() {
    if (sharedBase != 0) {
      Native.UNSAFE.freeMemory(sharedBase);
    }
    if (localBase != 0) {
      Native.UNSAFE.freeMemory(localBase);
    }
    sharedBase = 0;
    localBase = 0;
  }
}
