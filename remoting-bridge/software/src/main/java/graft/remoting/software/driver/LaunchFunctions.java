package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.exec.Launch;
import graft.remoting.software.ir.Program;
import graft.remoting.software.ptx.PtxException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** CUDA driver API: "Execution Control" (launches) and "Occupancy". */
abstract class LaunchFunctions extends ModuleFunctions {
  private static final Logger LOG = LoggerFactory.getLogger("graft.remoting.software");
  private static final int COOPERATIVE_LAUNCH_TOO_LARGE = 720;
  private static final AtomicLong GRIDS = new AtomicLong();

  LaunchFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  /** A launch as asked for. */
  protected record Request(
      long function,
      int[] grid,
      int[] block,
      int sharedBytes,
      long parameters,
      long extra,
      LaunchAttributes attributes) {}

  /** Checks a launch, takes its parameters, and gives what runs it. */
  protected final Runnable prepare(Request r, Context context) {
    FunctionRef f = function(r.function);
    int[] cluster = f.cluster(r.attributes.cluster());
    check(f, r, cluster);
    byte[] parameters = parameters(f.program(), r.parameters, r.extra);
    compile(f);
    int stack = (int) Math.min(512 << 10, context.limits().getOrDefault(0, 1024L));
    return () -> {
      try {
        new Launch(
                f.kernel(),
                f.context().gpu().runner(),
                new Launch.Geometry(r.grid, cluster, r.block, r.sharedBytes),
                stack,
                GRIDS.incrementAndGet())
            .run(parameters, r.attributes.cooperative());
      } catch (DeviceFault e) {
        LOG.error("kernel '{}' failed: {}", f.kernel().name(), e.getMessage());
        throw e;
      }
    };
  }

  /** Makes the kernel's code if it is new, so that the caller learns if that cannot be done. */
  private static void compile(FunctionRef f) {
    try {
      f.kernel().code();
    } catch (PtxException e) {
      LOG.error("kernel '{}' not launched: {}", f.kernel().name(), e.getMessage());
      throw new CudaException(CudaResult.NOT_SUPPORTED, e.getMessage());
    }
  }

  private static void check(FunctionRef f, Request r, int[] cluster) {
    long threads = (long) r.block[0] * r.block[1] * r.block[2];
    require(
        r.grid[0] > 0 && r.grid[1] > 0 && r.grid[2] > 0 && r.grid[1] <= 65535 && r.grid[2] <= 65535,
        "bad grid size");
    require(
        r.block[0] > 0
            && r.block[1] > 0
            && r.block[2] > 0
            && r.block[0] <= 1024
            && r.block[1] <= 1024
            && r.block[2] <= 64
            && threads <= f.maxThreads(),
        "bad block size, at most " + f.maxThreads() + " threads");
    int[] required = f.program().launchBounds().required();
    require(
        required == null || java.util.Arrays.equals(required, r.block),
        "the kernel requires another block size");
    require(
        r.sharedBytes >= 0 && r.sharedBytes <= f.maxDynamicShared(),
        "too much shared memory: the kernel may have " + f.maxDynamicShared() + " bytes more");
    require(
        r.grid[0] % cluster[0] == 0 && r.grid[1] % cluster[1] == 0 && r.grid[2] % cluster[2] == 0,
        "the grid is no whole number of clusters");
    long blocks = (long) r.grid[0] * r.grid[1] * r.grid[2];
    if (r.attributes.cooperative()
        && blocks
            > (long) f.occupancy((int) threads, r.sharedBytes)
                * f.context().gpu().multiprocessors()) {
      throw new CudaException(
          COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks for a cooperative launch");
    }
  }

  /** Packs parameters given by pointers, or takes the packed buffer of {@code extra}. */
  private static byte[] parameters(Program program, long pointers, long extra) {
    byte[] packed = new byte[program.parameterBytes()];
    long base = sun.misc.Unsafe.ARRAY_BYTE_BASE_OFFSET;
    if (pointers != 0) {
      List<Program.Parameter> all = program.parameters();
      for (int i = 0; i < all.size(); i++) {
        long from = UNSAFE.getLong(pointers + 8L * i);
        require(from != 0, "null pointer for kernel parameter " + i);
        UNSAFE.copyMemory(null, from, packed, base + all.get(i).offset(), all.get(i).size());
      }
      return packed;
    }
    if (extra == 0) {
      require(packed.length == 0, "the kernel takes parameters, none were given");
      return packed;
    }
    long buffer = 0;
    long size = 0;
    for (long at = extra; UNSAFE.getLong(at) != 0; at += 16) {
      long value = UNSAFE.getLong(at + 8);
      switch ((int) UNSAFE.getLong(at)) {
        case 1 -> buffer = value;
        case 2 -> size = UNSAFE.getLong(value);
        default -> throw new CudaException(CudaResult.INVALID_VALUE, "unknown launch parameter");
      }
    }
    require(size >= 0 && (buffer != 0 || size == 0), "no parameter buffer");
    UNSAFE.copyMemory(null, buffer, packed, base, Math.min(size, packed.length));
    return packed;
  }

  private void launch(Request request, long stream) {
    Stream s = stream(stream);
    submit(s, GraphNode.Type.KERNEL, prepare(request, s.context()));
  }

  @Override
  public int cuLaunchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters,
      long extra) {
    return call(
        () ->
            launch(
                new Request(
                    function,
                    new int[] {gridX, gridY, gridZ},
                    new int[] {blockX, blockY, blockZ},
                    sharedBytes,
                    parameters,
                    extra,
                    LaunchAttributes.NONE),
                stream));
  }

  @Override
  public int cuLaunchCooperativeKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters) {
    return call(
        () ->
            launch(
                new Request(
                    function,
                    new int[] {gridX, gridY, gridZ},
                    new int[] {blockX, blockY, blockZ},
                    sharedBytes,
                    parameters,
                    0,
                    LaunchAttributes.COOPERATIVE),
                stream));
  }

  /** CUlaunchConfig: grid at 0, block at 12, shared bytes at 24, stream at 32, attributes at 40. */
  @Override
  public int cuLaunchKernelEx(long config, long function, long parameters, long extra) {
    return call(
        () -> {
          require(config != 0, "no launch configuration");
          LaunchAttributes attributes = LaunchAttributes.of(config);
          launch(
              new Request(
                  function,
                  ints(config),
                  ints(config + 12),
                  UNSAFE.getInt(config + 24),
                  parameters,
                  extra,
                  attributes),
              UNSAFE.getLong(config + 32));
        });
  }

  @Override
  public int cuLaunchHostFunc(long stream, long function, long userData) {
    return call(
        () -> {
          require(function != 0, "no host function");
          submit(stream(stream), GraphNode.Type.HOST, () -> HostCall.run(function, userData));
        });
  }

  /** The callback also runs when the context has failed: it is told so. */
  @Override
  public int cuStreamAddCallback(long stream, long callback, long userData, int flags) {
    return call(
        () -> {
          require(callback != 0 && flags == 0, "no callback");
          Stream s = stream(stream);
          submit(
              s,
              GraphNode.Type.HOST,
              () -> HostCall.runCallback(callback, stream, s.context().error(), userData));
        });
  }

  // ---- occupancy

  @Override
  public int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      long blocks, long function, int blockSize, long dynamicShared, int flags) {
    return call(
        () -> {
          require(blockSize > 0, "bad block size");
          putInt(blocks, function(function).occupancy(blockSize, dynamicShared));
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
    return call(
        () -> {
          FunctionRef f = function(function);
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
    return call(
        () -> {
          require(blocks > 0 && blockSize > 0, "bad number of blocks");
          FunctionRef f = function(function);
          long each =
              DeviceAttributes.SHARED_PER_MULTIPROCESSOR / blocks
                  - DeviceAttributes.SHARED_RESERVED
                  - f.program().dynamicSharedOffset();
          putLong(bytes, Math.max(0, Math.min(each, DeviceAttributes.SHARED_OPT_IN)));
        });
  }

  @Override
  public int cuOccupancyMaxActiveClusters(long clusters, long function, long config) {
    return call(
        () -> {
          FunctionRef f = function(function);
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
    return call(() -> putInt(size, function(function).largestCluster()));
  }
}
