package graft.remoting.software.exec;

import graft.remoting.software.ir.SyncPoint;

/**
 * What a kernel is compiled to: regions that run all threads of a block that are at their entry.
 */
public abstract class KernelCode {
  /** State of a thread that has ended. */
  public static final int EXITED = -1;

  private SyncPoint[] syncPoints;
  private int[] resumes;
  private int accessSites;
  private int intSlots;
  private int longSlots;
  private boolean usesMatrices;

  /** Runs the threads of a block that are at the entry of a region. */
  public abstract void run(ThreadBlock block, int region);

  /** State of a thread that waits at a synchronization point; states from 0 on are regions. */
  public static int waiting(int syncPoint) {
    return -2 - syncPoint;
  }

  /**
   * Says what the scheduler needs to know.
   *
   * @param points the synchronization points
   * @param regions where a thread goes on after each of them
   * @param ints registers of 32 bits and less that are kept between regions
   * @param longs registers of 64 bits that are kept between regions
   * @param sites places that access global memory
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

  /** The synchronization point at which a thread of this state waits. */
  final SyncPoint syncPoint(int state) {
    return syncPoints[-2 - state];
  }

  /** Where a thread that waits goes on. */
  final int resume(int state) {
    return resumes[-2 - state];
  }

  final boolean synchronizes() {
    return syncPoints.length > 0;
  }

  /** True if it has wmma, mma, ldmatrix and their like, for which threads keep matrix words. */
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
