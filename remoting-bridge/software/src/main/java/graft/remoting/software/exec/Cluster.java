package graft.remoting.software.exec;

import java.util.Arrays;

/**
 * Blocks that run together, can wait for each other and can access each other's shared memory (PTX
 * ISA, "Cluster of Cooperative Thread Arrays"). A block without a cluster forms its own. One Java
 * thread at a time runs a cluster, block by block.
 *
 * <p>A shared address with {@code rank + 1} in the bits from {@value #RANK_SHIFT} on lies in the
 * block of that rank (window .shared::cluster); without, it lies in the block that uses it.
 */
public final class Cluster {
  private static final int RANK_SHIFT = 24;
  private static final int OFFSET_MASK = (1 << RANK_SHIFT) - 1;

  /** The number of rounds over all blocks, after which another cluster runs. */
  private static final int PATIENCE = 16;

  private final ThreadBlock[] blocks;
  private final boolean[] ended;

  /** The phase of the cluster's barrier that all live threads have arrived at. */
  private int openPhase;

  /** Whether a thread has arrived since the barrier was last found closed. */
  private boolean moved;

  Cluster(ThreadBlock[] blocks) {
    this.blocks = blocks;
    this.ended = new boolean[blocks.length];
    for (ThreadBlock b : blocks) {
      b.cluster = this;
    }
  }

  ThreadBlock[] blocks() {
    return blocks;
  }

  /** Starts the blocks of the cluster with a number, clusters counted along x first. */
  void start(long number) {
    Launch launch = blocks[0].launch;
    long rest = number / launch.clustersX();
    int x = (int) (number % launch.clustersX());
    int y = (int) (rest % launch.clustersY());
    int z = (int) (rest / launch.clustersY());
    for (int rank = 0; rank < blocks.length; rank++) {
      blocks[rank].start(x, y, z, rank);
    }
    Arrays.fill(ended, false);
    openPhase = 0;
    moved = true;
  }

  /**
   * Runs the blocks.
   *
   * @return false if they wait for another cluster and the caller must call again
   */
  boolean run(KernelCode code) {
    if (blocks.length == 1) {
      moved = true;
      return BlockRunner.run(blocks[0], code);
    }
    for (int round = 0; round < PATIENCE; round++) {
      boolean all = true;
      for (int i = 0; i < blocks.length; i++) {
        moved = true; // threads may have ended instead of arriving
        ended[i] = ended[i] || BlockRunner.run(blocks[i], code);
        all &= ended[i];
      }
      if (all) {
        return true;
      }
    }
    return false;
  }

  // ---- barrier.cluster

  /** barrier.cluster.arrive. */
  public static void arrive(ThreadBlock b, int thread) {
    b.clusterPhase[thread]++;
    b.cluster.moved = true;
  }

  /** Returns whether a thread that has arrived at the cluster's barrier may continue. */
  public static int isOpen(ThreadBlock b, int thread) {
    Cluster c = b.cluster;
    int phase = b.clusterPhase[thread];
    if (phase > c.openPhase && c.moved) {
      c.moved = false;
      if (c.haveArrived(phase)) {
        c.openPhase = phase;
      }
    }
    return phase <= c.openPhase ? 1 : 0;
  }

  private boolean haveArrived(int phase) {
    for (int i = 0; i < blocks.length; i++) {
      ThreadBlock b = blocks[i];
      for (int t = 0; t < b.threads && !ended[i]; t++) {
        if (b.clusterPhase[t] < phase && b.pc[t] != KernelCode.EXITED) {
          return false;
        }
      }
    }
    return true;
  }

  // ---- addresses

  private static ThreadBlock peer(ThreadBlock b, int rank) {
    ThreadBlock[] blocks = b.cluster.blocks;
    if (rank < 0 || rank >= blocks.length) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_ADDRESS,
          "there is no block "
              + rank
              + " in a cluster of "
              + blocks.length
              + ", asked for by "
              + b.where(-1));
    }
    return blocks[rank];
  }

  /** Returns the block whose shared memory contains a generic address, or null. */
  private static ThreadBlock owner(ThreadBlock b, long address) {
    for (ThreadBlock other : b.cluster.blocks) {
      long offset = address - other.sharedBase;
      if (offset >= 0 && offset < other.sharedBytes) {
        return other;
      }
    }
    return null;
  }

  /** mapa on a shared address: the same offset in the block of a rank. */
  public static int map(ThreadBlock b, int shared, int rank) {
    peer(b, rank);
    return rank + 1 << RANK_SHIFT | shared & OFFSET_MASK;
  }

  /** mapa on a generic address. */
  public static long mapGeneric(ThreadBlock b, long address, int rank) {
    ThreadBlock from = owner(b, address);
    return address - (from == null ? b : from).sharedBase + peer(b, rank).sharedBase;
  }

  /** getctarank on a shared address. */
  public static int rank(ThreadBlock b, int shared) {
    int rank = (shared >>> RANK_SHIFT) - 1;
    return rank < 0 ? b.clusterRank : rank;
  }

  /** getctarank on a generic address. */
  public static int rankGeneric(ThreadBlock b, long address) {
    ThreadBlock found = owner(b, address);
    return found == null ? b.clusterRank : found.clusterRank;
  }

  /** Converts a shared address of any block of the cluster to a generic one. */
  public static long generic(ThreadBlock b, long shared) {
    int rank = ((int) shared >>> RANK_SHIFT) - 1;
    return rank < 0 ? b.sharedBase + shared : peer(b, rank).sharedBase + (shared & OFFSET_MASK);
  }

  /**
   * Converts a generic address in the shared memory of any block of the cluster to a shared one.
   */
  public static long shared(ThreadBlock b, long address) {
    ThreadBlock found = owner(b, address);
    return found == null || found == b
        ? address - b.sharedBase
        : map(b, (int) (address - found.sharedBase), found.clusterRank);
  }

  /** isspacep.shared::cluster. */
  public static int isShared(ThreadBlock b, long address) {
    return owner(b, address) != null ? 1 : 0;
  }

  /** Whether a range lies in the shared memory of another block of the cluster. */
  static boolean reaches(ThreadBlock b, long address, int bytes) {
    ThreadBlock found = b.cluster.blocks.length == 1 ? null : owner(b, address);
    return found != null && address - found.sharedBase + bytes <= found.sharedBytes;
  }

  /**
   * cp.async.bulk with .multicast::cluster: the copy is made in every block that a mask names, and
   * completes at the barrier at the same offset in that block.
   *
   * @param to the destination in this block, a generic address like that of the barrier
   */
  public static void multicast(
      ThreadBlock b, long to, long from, int bytes, long barrier, int mask, int thread) {
    for (int rank = 0; mask >>> rank != 0; rank++) {
      if ((mask >>> rank & 1) != 0) {
        long distance = peer(b, rank).sharedBase - b.sharedBase;
        Access.copyBulk(b, to + distance, from, bytes, thread);
        Mbarrier.expect(Access.generic(b, barrier + distance, 8, thread), -bytes);
      }
    }
  }
}
