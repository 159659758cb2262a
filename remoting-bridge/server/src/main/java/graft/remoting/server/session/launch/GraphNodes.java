package graft.remoting.server.session.launch;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.code.KernelParameters;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.TrackedDevice;
import graft.remoting.server.session.state.HostFunctions;

/**
 * The calls on the nodes of graphs. A node's parameters arrive as CUgraphNodeParams (cuda.h) with
 * zeros in place of handles, lists and host memory; the session enters the device's values.
 */
public final class GraphNodes implements SessionCalls.GraphNode {
  // CUgraphNodeType.
  private static final int KERNEL = 0;
  private static final int MEMCPY = 1;
  private static final int MEMSET = 2;
  private static final int HOST = 3;
  private static final int CHILD = 4;
  private static final int EMPTY = 5;
  private static final int WAIT_EVENT = 6;
  private static final int RECORD_EVENT = 7;
  private static final int ALLOCATE = 10;
  private static final int FREE = 11;
  private static final int MEM_OP = 12;
  private static final int CONDITIONAL = 13;

  /** The offset of a node's own parameters in CUgraphNodeParams. */
  private static final int OWN = 16;

  // CUDA_KERNEL_NODE_PARAMS_v2.
  private static final int KERNEL_PARAMETERS = 40;
  private static final int KERNEL_EXTRA = 48;
  private static final int KERNEL_KERNEL = 56;
  private static final int KERNEL_CONTEXT = 64;

  // CUDA_MEMCPY_NODE_PARAMS, and CUDA_MEMCPY3D in it.
  private static final int COPY_CONTEXT = 8;
  private static final int COPY = 16;
  private static final int SRC_ARRAY = 56;
  private static final int DST_ARRAY = 144;

  private static final int FILL_CONTEXT = 40;

  // CUDA_MEM_ALLOC_NODE_PARAMS.
  private static final int ALLOCATE_ACCESS = 88;
  private static final int ALLOCATE_COUNT = 96;
  private static final int ALLOCATE_BYTES = 104;
  private static final int ALLOCATE_ADDRESS = 112;
  private static final int ACCESS = 12;

  // CUDA_BATCH_MEM_OP_NODE_PARAMS.
  private static final int MEM_OP_COUNT = 8;
  private static final int MEM_OP_LIST = 16;
  private static final int MEM_OPERATION = 48;

  // CUDA_CONDITIONAL_NODE_PARAMS.
  private static final int CONDITIONAL_SIZE = 12;
  private static final int CONDITIONAL_BODIES = 16;
  private static final int CONDITIONAL_CONTEXT = 24;

  private final AccountedDevice device;
  private final TrackedDevice tracked;
  private final KernelParameters parameters;
  private final HostFunctions hostFunctions;
  private final PackedParameters packed = new PackedParameters();

  public GraphNodes(
      AccountedDevice device,
      TrackedDevice tracked,
      KernelParameters parameters,
      HostFunctions hostFunctions) {
    this.device = device;
    this.tracked = tracked;
    this.parameters = parameters;
    this.hostFunctions = hostFunctions;
  }

  /** The handles and the data that are entered into a node's parameters. */
  private record Parts(
      long function,
      long event,
      long child,
      long source,
      long target,
      long context,
      long data,
      int bytes,
      long callback) {}

  /** Enters the parts into the parameters. Returns a CUresult. */
  private int complete(long params, Parts parts) {
    if (params == 0) {
      return CudaResult.INVALID_VALUE;
    }
    long own = params + OWN;
    switch (Memory.getInt(params)) {
      case KERNEL -> {
        boolean kernel = parameters.isKernel(parts.function());
        Memory.putLong(own, kernel ? 0 : parts.function());
        Memory.putLong(own + KERNEL_KERNEL, kernel ? parts.function() : 0);
        // A node with a packed buffer cannot become a cooperative launch (an H200, driver 580).
        long pointers = parameters.pointersTo(parts.function(), parts.data(), parts.bytes());
        Memory.putLong(own + KERNEL_PARAMETERS, pointers);
        Memory.putLong(
            own + KERNEL_EXTRA, pointers != 0 ? 0 : packed.extra(parts.data(), parts.bytes()));
        Memory.putLong(own + KERNEL_CONTEXT, parts.context());
      }
      case MEMCPY -> {
        Memory.putLong(own + COPY_CONTEXT, parts.context());
        Memory.putLong(own + COPY + SRC_ARRAY, parts.source());
        Memory.putLong(own + COPY + DST_ARRAY, parts.target());
      }
      case MEMSET -> Memory.putLong(own + FILL_CONTEXT, parts.context());
      case HOST -> {
        Memory.putLong(own, hostFunctions.address());
        Memory.putLong(own + 8, parts.callback());
      }
      case CHILD -> Memory.putLong(own, parts.child());
      case WAIT_EVENT, RECORD_EVENT -> Memory.putLong(own, parts.event());
      case EMPTY, FREE -> {}
      case ALLOCATE -> {
        if (parts.bytes() != Memory.getLong(own + ALLOCATE_COUNT) * ACCESS) {
          return CudaResult.INVALID_VALUE;
        }
        Memory.putLong(own + ALLOCATE_ACCESS, parts.data());
        return device.addGraphMemory(Memory.getLong(own + ALLOCATE_BYTES));
      }
      case MEM_OP -> {
        if (parts.bytes() != (long) Memory.getInt(own + MEM_OP_COUNT) * MEM_OPERATION) {
          return CudaResult.INVALID_VALUE;
        }
        Memory.putLong(own, parts.context());
        Memory.putLong(own + MEM_OP_LIST, parts.data());
      }
      case CONDITIONAL -> {
        Memory.putLong(own + CONDITIONAL_BODIES, 0);
        Memory.putLong(own + CONDITIONAL_CONTEXT, parts.context());
      }
      default -> {
        return CudaResult.NOT_SUPPORTED;
      }
    }
    return CudaResult.SUCCESS;
  }

  @Override
  public int graftGraphAddNode(Call call, GraphAddNode a) {
    Parts parts =
        new Parts(
            a.function(),
            a.event(),
            a.child(),
            a.source(),
            a.target(),
            a.context(),
            a.data(),
            a.bytes(),
            a.callback());
    long params = a.parameters();
    int result = complete(params, parts);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    if (Memory.getInt(params) == CONDITIONAL
        && (a.bodies() == 0 || Memory.getInt(params + OWN + CONDITIONAL_SIZE) != a.bodyCount())) {
      return CudaResult.INVALID_VALUE;
    }
    result =
        device.cuGraphAddNode_v2(
            a.node(),
            a.graph(),
            a.dependencies(),
            a.edges(),
            a.dependencies() == 0 ? 0 : a.count(),
            params);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    if (Memory.getInt(params) == ALLOCATE) {
      long given = Memory.getLong(params + OWN + ALLOCATE_ADDRESS);
      tracked.graphMemory(given, Memory.getLong(params + OWN + ALLOCATE_BYTES));
      if (a.address() != 0) {
        Memory.putLong(a.address(), given);
      }
    }
    if (Memory.getInt(params) == CONDITIONAL) {
      Memory.copy(
          Memory.getLong(params + OWN + CONDITIONAL_BODIES), a.bodies(), 8L * a.bodyCount());
    }
    return result;
  }

  @Override
  public int graftGraphSetNode(
      Call call,
      long exec,
      long node,
      long params,
      long function,
      long event,
      long child,
      long source,
      long target,
      long context,
      long data,
      int bytes,
      long callback) {
    Parts parts = new Parts(function, event, child, source, target, context, data, bytes, callback);
    int result = complete(params, parts);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    return exec == 0
        ? device.cuGraphNodeSetParams(node, params)
        : device.cuGraphExecNodeSetParams(exec, node, params);
  }

  /** Returns the parameters of a node that a capture has created. */
  @Override
  public int graftGraphGetNode(
      Call call,
      long node,
      long params,
      long function,
      long source,
      long target,
      long data,
      int capacity,
      long bytes) {
    if (params == 0 || function == 0 || source == 0 || target == 0 || bytes == 0) {
      return CudaResult.INVALID_VALUE;
    }
    int result = device.cuGraphNodeGetType(node, params);
    long own = params + OWN;
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    return switch (Memory.getInt(params)) {
      case KERNEL -> {
        result = device.cuGraphKernelNodeGetParams_v2(node, own);
        if (result != CudaResult.SUCCESS) {
          yield result;
        }
        long found = Memory.getLong(own);
        found = found != 0 ? found : Memory.getLong(own + KERNEL_KERNEL);
        Memory.putLong(function, found);
        result =
            parameters.pack(
                found,
                Memory.getLong(own + KERNEL_PARAMETERS),
                Memory.getLong(own + KERNEL_EXTRA),
                data,
                capacity,
                bytes);
        for (int at :
            new int[] {0, KERNEL_PARAMETERS, KERNEL_EXTRA, KERNEL_KERNEL, KERNEL_CONTEXT}) {
          Memory.putLong(own + at, 0);
        }
        yield result;
      }
      case MEMCPY -> {
        result = device.cuGraphMemcpyNodeGetParams(node, own + COPY);
        Memory.putLong(source, Memory.getLong(own + COPY + SRC_ARRAY));
        Memory.putLong(target, Memory.getLong(own + COPY + DST_ARRAY));
        yield result;
      }
      case MEMSET -> device.cuGraphMemsetNodeGetParams(node, own);
      case EMPTY -> CudaResult.SUCCESS;
      case FREE -> device.cuGraphMemFreeNodeGetParams(node, own);
      default -> CudaResult.NOT_SUPPORTED;
    };
  }
}
