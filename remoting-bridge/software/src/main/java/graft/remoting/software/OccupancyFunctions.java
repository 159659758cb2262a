package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.ints;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.OccupancyApi;
import graft.remoting.software.object.DeviceAttributes;
import graft.remoting.software.object.FunctionRef;
import graft.remoting.software.object.HostCall;
import graft.remoting.software.object.LaunchAttributes;

/** CUDA driver API: "Occupancy". */
final class OccupancyFunctions implements OccupancyApi {
  private final Calls calls;
  private final Kernels kernels;

  OccupancyFunctions(Calls calls, Kernels kernels) {
    this.calls = calls;
    this.kernels = kernels;
  }

  @Override
  public int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      long blocks, long function, int blockSize, long dynamicShared, int flags) {
    return calls.run(
        () -> {
          require(blockSize > 0, "bad block size");
          putInt(blocks, kernels.function(function).occupancy(blockSize, dynamicShared));
        });
  }

  @Override
  public int cuOccupancyMaxActiveBlocksPerMultiprocessor(
      long blocks, long function, int blockSize, long dynamicShared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, function, blockSize, dynamicShared, 0);
  }

  @Override
  public int cuOccupancyMaxPotentialBlockSizeWithFlags(
      long gridSize,
      long blockSize,
      long function,
      long sharedForBlock,
      long dynamicShared,
      int limit,
      int flags) {
    return calls.run(
        () -> {
          FunctionRef f = kernels.function(function);
          int most = limit > 0 ? Math.min(limit, f.maxThreads()) : f.maxThreads();
          int best = 0;
          int bestThreads = 0;
          for (int size = most; size > 0; size = size > 32 ? size - 1 & -32 : 0) {
            long shared =
                sharedForBlock == 0 ? dynamicShared : HostCall.sharedForBlock(sharedForBlock, size);
            int threads = f.occupancy(size, shared) * size;
            if (threads > bestThreads) {
              bestThreads = threads;
              best = size;
            }
          }
          putInt(blockSize, best);
          putInt(
              gridSize, best == 0 ? 0 : bestThreads / best * f.context().gpu().multiprocessors());
        });
  }

  @Override
  public int cuOccupancyMaxPotentialBlockSize(
      long gridSize,
      long blockSize,
      long function,
      long sharedForBlock,
      long dynamicShared,
      int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(
        gridSize, blockSize, function, sharedForBlock, dynamicShared, limit, 0);
  }

  @Override
  public int cuOccupancyAvailableDynamicSMemPerBlock(
      long bytes, long function, int blocks, int blockSize) {
    return calls.run(
        () -> {
          require(blocks > 0 && blockSize > 0, "bad number of blocks");
          FunctionRef f = kernels.function(function);
          long each =
              DeviceAttributes.SHARED_PER_MULTIPROCESSOR / blocks
                  - DeviceAttributes.SHARED_RESERVED
                  - f.program().dynamicSharedOffset();
          putLong(bytes, Math.max(0, Math.min(each, DeviceAttributes.SHARED_OPT_IN)));
        });
  }

  @Override
  public int cuOccupancyMaxActiveClusters(long clusters, long function, long config) {
    return calls.run(
        () -> {
          FunctionRef f = kernels.function(function);
          int[] block = ints(config + 12);
          require(block[0] > 0 && block[1] > 0 && block[2] > 0, "bad block size");
          int[] cluster = f.cluster(LaunchAttributes.of(config).cluster());
          putInt(
              clusters,
              f.occupancy(block[0] * block[1] * block[2], UNSAFE.getInt(config + 24))
                  * f.context().gpu().multiprocessors()
                  / (cluster[0] * cluster[1] * cluster[2]));
        });
  }

  @Override
  public int cuOccupancyMaxPotentialClusterSize(long size, long function, long config) {
    return calls.run(() -> putInt(size, kernels.function(function).largestCluster()));
  }
}
