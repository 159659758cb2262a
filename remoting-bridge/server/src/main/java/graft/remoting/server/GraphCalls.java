package graft.remoting.server;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Graphs: what has a structure with handles, lists or host memory in it. A node's parameters come
 * as CUgraphNodeParams (cuda.h) with zeros where those were, and get the device's here.
 */
final class GraphCalls {
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

  /** Where a node's own parameters begin in CUgraphNodeParams. */
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

  private static final int MAX_NODES = 1 << 22;

  private final AccountedDevice device;
  private final TrackedDevice tracked;
  private final HandleTables handles;
  private final CodeCalls code;
  private final HostFunctions hostFunctions;
  private final PackedParameters packed = new PackedParameters();

  GraphCalls(
      AccountedDevice device,
      TrackedDevice tracked,
      HandleTables handles,
      CodeCalls code,
      HostFunctions hostFunctions) {
    this.device = device;
    this.tracked = tracked;
    this.handles = handles;
    this.code = code;
    this.hostFunctions = hostFunctions;
  }

  /** The handles and the data that belong into a node's parameters. */
  record Parts(
      long function,
      long event,
      long child,
      long source,
      long target,
      long context,
      long data,
      int bytes,
      long callback) {}

  /** Puts the parts into the parameters; a CUresult. */
  private int complete(long params, Parts parts) {
    if (params == 0) {
      return CudaResult.INVALID_VALUE;
    }
    long own = params + OWN;
    switch (Memory.getInt(params)) {
      case KERNEL -> {
        boolean kernel = code.isKernel(parts.function());
        Memory.putLong(own, kernel ? 0 : parts.function());
        Memory.putLong(own + KERNEL_KERNEL, kernel ? parts.function() : 0);
        Memory.putLong(own + KERNEL_PARAMETERS, 0);
        Memory.putLong(own + KERNEL_EXTRA, packed.extra(parts.data(), parts.bytes()));
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

  int add(
      long node,
      long graph,
      long dependencies,
      long edges,
      long count,
      long params,
      Parts parts,
      long address,
      long bodies,
      int bodyCount) {
    int result = complete(params, parts);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    if (Memory.getInt(params) == CONDITIONAL
        && (bodies == 0 || Memory.getInt(params + OWN + CONDITIONAL_SIZE) != bodyCount)) {
      return CudaResult.INVALID_VALUE;
    }
    result =
        device.cuGraphAddNode_v2(
            node, graph, dependencies, edges, dependencies == 0 ? 0 : count, params);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    if (Memory.getInt(params) == ALLOCATE) {
      long given = Memory.getLong(params + OWN + ALLOCATE_ADDRESS);
      tracked.graphMemory(given, Memory.getLong(params + OWN + ALLOCATE_BYTES));
      if (address != 0) {
        Memory.putLong(address, given);
      }
    }
    if (Memory.getInt(params) == CONDITIONAL) {
      Memory.copy(Memory.getLong(params + OWN + CONDITIONAL_BODIES), bodies, 8L * bodyCount);
    }
    return result;
  }

  int set(long exec, long node, long params, Parts parts) {
    int result = complete(params, parts);
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    return exec == 0
        ? device.cuGraphNodeSetParams(node, params)
        : device.cuGraphExecNodeSetParams(exec, node, params);
  }

  /** Parameters of a node that a capture has made. */
  int get(
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
            code.pack(
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

  int captureInfo(
      long stream,
      long status,
      long id,
      long graph,
      long dependencies,
      long edges,
      long capacity,
      long count) {
    try (Scratch scratch = new Scratch(40)) {
      long statusAt = status != 0 ? status : scratch.address();
      long nodesAt = scratch.address() + 8;
      long edgesAt = scratch.address() + 16;
      long countAt = scratch.address() + 24;
      int result =
          device.cuStreamGetCaptureInfo_v3(stream, statusAt, id, graph, nodesAt, edgesAt, countAt);
      if (result != CudaResult.SUCCESS || Memory.getInt(statusAt) == 0) {
        return result;
      }
      long there = Memory.getLong(countAt);
      long fits = 8 * Math.min(there, capacity);
      if (dependencies != 0 && Memory.getLong(nodesAt) != 0) {
        Memory.copy(Memory.getLong(nodesAt), dependencies, fits);
      }
      if (edges != 0 && Memory.getLong(edgesAt) != 0) {
        Memory.copy(Memory.getLong(edgesAt), edges, fits);
      }
      if (count != 0) {
        Memory.putLong(count, there);
      }
      return result;
    }
  }

  int nodes(long graph, int roots, long nodes, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    long list = capacity == 0 ? 0 : nodes;
    return roots != 0
        ? device.cuGraphGetRootNodes(graph, list, count)
        : device.cuGraphGetNodes(graph, list, count);
  }

  int edges(long graph, long from, long to, long edges, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    return capacity == 0 || from == 0 || to == 0
        ? device.cuGraphGetEdges_v2(graph, 0, 0, 0, count)
        : device.cuGraphGetEdges_v2(graph, from, to, edges, count);
  }

  int neighbours(long node, int dependents, long nodes, long edges, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    long list = capacity == 0 ? 0 : nodes;
    long data = capacity == 0 ? 0 : edges;
    return dependents != 0
        ? device.cuGraphNodeGetDependentNodes_v2(node, list, data, count)
        : device.cuGraphNodeGetDependencies_v2(node, list, data, count);
  }

  int instantiate(long exec, long graph, long flags, long upload, long failed, long outcome) {
    // CUDA_GRAPH_INSTANTIATE_PARAMS: flags, stream, node, result.
    try (Scratch params = new Scratch(32)) {
      Memory.putLong(params.address(), flags);
      Memory.putLong(params.address() + 8, upload);
      int result = device.cuGraphInstantiateWithParams(exec, graph, params.address());
      if (failed != 0) {
        Memory.putLong(failed, Memory.getLong(params.address() + 16));
      }
      if (outcome != 0) {
        Memory.putInt(outcome, Memory.getInt(params.address() + 24));
      }
      return result;
    }
  }

  int update(long exec, long graph, long outcome, long node, long from) {
    // CUgraphExecUpdateResultInfo: result, node, from.
    try (Scratch info = new Scratch(24)) {
      int result = device.cuGraphExecUpdate_v2(exec, graph, info.address());
      if (outcome != 0) {
        Memory.putInt(outcome, Memory.getInt(info.address()));
      }
      if (node != 0) {
        Memory.putLong(node, Memory.getLong(info.address() + 8));
      }
      if (from != 0) {
        Memory.putLong(from, Memory.getLong(info.address() + 16));
      }
      return result;
    }
  }

  /** Ends a graph; its nodes' handles may come again for others. */
  int destroy(long graph) {
    forgetNodes(graph);
    return device.cuGraphDestroy(graph);
  }

  private void forgetNodes(long graph) {
    try (Scratch count = new Scratch(8)) {
      int result = device.cuGraphGetNodes(graph, 0, count.address());
      long there = Memory.getLong(count.address());
      if (result != CudaResult.SUCCESS || there <= 0 || there > MAX_NODES) {
        return;
      }
      try (Scratch nodes = new Scratch((int) (8 * there))) {
        result = device.cuGraphGetNodes(graph, nodes.address(), count.address());
        for (long i = 0; result == CudaResult.SUCCESS && i < there; i++) {
          handles.forget(HandleKind.NODE, Memory.getLong(nodes.address() + 8 * i));
        }
      }
    }
  }

  /**
   * The driver writes its description of a graph to a file of ours; a part of that is the answer.
   */
  int dot(long graph, int flags, long offset, long text, int capacity, long length) {
    if (text == 0 || length == 0 || offset < 0) {
      return CudaResult.INVALID_VALUE;
    }
    try {
      Path file = Files.createTempFile("graft-graph-", ".dot");
      try {
        int result;
        try (Scratch name = Scratch.of((file + "\0").getBytes(StandardCharsets.UTF_8))) {
          result = device.cuGraphDebugDotPrint(graph, name.address(), flags);
        }
        byte[] all = Files.readAllBytes(file);
        int from = (int) Math.min(offset, all.length);
        Memory.write(text, all, from, Math.min(capacity, all.length - from));
        Memory.putLong(length, all.length);
        return result;
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      return CudaResult.OPERATING_SYSTEM;
    }
  }
}
