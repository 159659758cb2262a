package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.software.exec.DeviceFault;
import graft.remoting.software.exec.Launch;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.FunctionRef;
import graft.remoting.software.object.LaunchAttributes;
import graft.remoting.software.ptx.PtxException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Unsafe;

/** Launches of kernels. */
final class Launches {
  private static final Logger LOG = LoggerFactory.getLogger("graft.remoting.software");
  private static final int COOPERATIVE_LAUNCH_TOO_LARGE = 720;
  private static final AtomicLong GRIDS = new AtomicLong();

  private final Kernels kernels;

  Launches(Kernels kernels) {
    this.kernels = kernels;
  }

  /** The parameters of a launch call. */
  record Request(
      long function,
      int[] grid,
      int[] block,
      int sharedBytes,
      long parameters,
      long extra,
      LaunchAttributes attributes) {}

  /** Checks a launch, copies its parameters, and returns the task that runs it. */
  Runnable prepare(Request r, Context context) {
    FunctionRef f = kernels.function(r.function);
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

  /** Compiles the kernel if it is new, so that the caller gets the error if that fails. */
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
        required == null || Arrays.equals(required, r.block),
        "the kernel requires another block size");
    require(
        r.sharedBytes >= 0 && r.sharedBytes <= f.maxDynamicShared(),
        "too much shared memory: the kernel may have " + f.maxDynamicShared() + " bytes more");
    require(
        r.grid[0] % cluster[0] == 0 && r.grid[1] % cluster[1] == 0 && r.grid[2] % cluster[2] == 0,
        "the grid is not a whole number of clusters");
    long blocks = (long) r.grid[0] * r.grid[1] * r.grid[2];
    if (r.attributes.cooperative()
        && blocks
            > (long) f.occupancy((int) threads, r.sharedBytes)
                * f.context().gpu().multiprocessors()) {
      throw new CudaException(
          COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks for a cooperative launch");
    }
  }

  /** Packs parameters given by pointers, or copies the packed buffer of {@code extra}. */
  private static byte[] parameters(Program program, long pointers, long extra) {
    byte[] packed = new byte[program.parameterBytes()];
    long base = Unsafe.ARRAY_BYTE_BASE_OFFSET;
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
}
