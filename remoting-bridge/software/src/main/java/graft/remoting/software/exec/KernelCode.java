package graft.remoting.software.exec;

import graft.remoting.software.ir.SyncPoint;

/** A compiled kernel: regions, each of which runs all threads of a block that are at its entry. */
public abstract class KernelCode {
  /** The state of a thread that has ended. */
  public static final int EXITED = -1;

  private SyncPoint[] syncPoints;
  private int[] resumes;
  private int accessSites;
  private int intSlots;
  private int longSlots;
  private boolean usesMatrices;

  /** Runs the threads of a block that are at the entry of a region. */
  public abstract void run(ThreadBlock block, int region);

  /**
   * Returns the state of a thread that waits at a synchronization point; states from 0 on are
   * regions.
   */
  public static int waiting(int syncPoint) {
    return -2 - syncPoint;
  }

  /**
   * Sets what the scheduler needs to know.
   *
   * @param points the synchronization points
   * @param regions the region at which a thread continues after each of them
   * @param ints the number of registers of 32 bits and less that are kept between regions
   * @param longs the number of registers of 64 bits that are kept between regions
   * @param sites the number of instructions that access global memory
   * @param matrices whether threads need matrix words
   */
  public final void describe(
      SyncPoint[] points, int[] regions, int ints, int longs, int sites, boolean matrices) {
    accessSites = sites;
    syncPoints = points;
    usesMatrices = matrices;
    resumes = regions;
    intSlots = ints;
    longSlots = longs;
  }

  /** Returns the synchronization point at which a thread in this state waits. */
  final SyncPoint syncPoint(int state) {
    return syncPoints[-2 - state];
  }

  /** Returns the region at which a waiting thread continues. */
  final int resume(int state) {
    return resumes[-2 - state];
  }

  final boolean synchronizes() {
    return syncPoints.length > 0;
  }

  /**
   * Returns whether the kernel has matrix instructions (wmma, mma, ldmatrix and similar), for which
   * threads need matrix words.
   */
  final boolean usesMatrices() {
    return usesMatrices;
  }

  final int accessSites() {
    return accessSites;
  }

  final int intSlots() {
    return intSlots;
  }

  final int longSlots() {
    return longSlots;
  }
}
