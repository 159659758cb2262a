package graft.remoting.server.session.memory;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the host memory that the driver keeps for a session's code and graphs, and refuses what
 * exceeds the session's limit with CUDA_ERROR_OUT_OF_MEMORY. Only the executor uses this device for
 * the calls that are counted.
 */
public final class HostCountedDevice extends ForwardingDevice {
  /** CU_LIMIT_PRINTF_FIFO_SIZE. */
  private static final int PRINTF_BUFFER = 1;

  /** The driver prints as much as its buffer holds at once. */
  private static final long LARGEST_PRINTF_BUFFER = 64L << 20;

  /** CU_GRAPH_NODE_TYPE_GRAPH. */
  private static final int CHILD_GRAPH = 4;

  /** Where the part of CUgraphNodeParams begins that depends on the type. */
  private static final int NODE_PARAMETERS = 16;

  private final HostMemory memory;

  /** The code of each module and library: its size, and the context that owns it, or 0. */
  private final Map<Long, Code> code = new HashMap<>();

  /**
   * The bytes that each graph and each executable graph counts beside the nodes that have ids of
   * their own.
   */
  private final Map<Long, Long> copies = new HashMap<>();

  /** The captures into graphs that existed before, by the streams in which they began. */
  private final Map<Long, ToGraph> toGraphs = new HashMap<>();

  private record Code(long bytes, long context) {}

  /** A capture into a graph, and how many nodes the graph had when it began. */
  private record ToGraph(long graph, long nodes) {}

  public HostCountedDevice(CudaDevice next, HostMemory memory) {
    super(next);
    this.memory = memory;
  }

  // ---- code

  /** A call of the driver that loads code. */
  public interface Loading {
    int load();
  }

  /**
   * Loads code, which counts until it is unloaded, since the driver keeps a copy of it.
   *
   * @param result where the call writes the handle
   * @param ofContext whether the code ends with the current context, as modules do
   */
  public int load(long result, long bytes, boolean ofContext, Loading loading) {
    if (!memory.take(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    int answer = loading.load();
    if (answer != CudaResult.SUCCESS || result == 0) {
      memory.give(bytes);
      return answer;
    }
    release(
        code.put(
            Memory.getLong(result),
            new Code(bytes, ofContext ? DeviceState.currentContext(next) : 0)));
    return answer;
  }

  private void release(Code gone) {
    if (gone != null) {
      memory.give(gone.bytes());
    }
  }

  @Override
  public int cuModuleUnload(long module) {
    int answer = next.cuModuleUnload(module);
    release(answer == CudaResult.SUCCESS ? code.remove(module) : null);
    return answer;
  }

  @Override
  public int cuLibraryUnload(long library) {
    int answer = next.cuLibraryUnload(library);
    release(answer == CudaResult.SUCCESS ? code.remove(library) : null);
    return answer;
  }

  /** Stops counting the modules of a destroyed context. */
  public void forgetContext(long context) {
    code.values()
        .removeIf(
            of -> {
              boolean gone = of.context() == context && context != 0;
              if (gone) {
                memory.give(of.bytes());
              }
              return gone;
            });
  }

  // ---- graphs

  /**
   * Returns the bytes that a copy of the graph counts. Nodes with a child graph contain a copy of
   * it, which can contain further ones.
   */
  private long weight(long graph) {
    return nodes(graph) * HostMemory.OBJECT + copies.getOrDefault(graph, 0L);
  }

  private long nodes(long graph) {
    try (Scratch count = new Scratch(8)) {
      return next.cuGraphGetNodes(graph, 0, count.address()) == CudaResult.SUCCESS
          ? Memory.getLong(count.address())
          : 0;
    }
  }

  private interface Copying {
    int copy();
  }

  private int copied(long result, long bytes, Copying copying) {
    if (!memory.take(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    int answer = copying.copy();
    if (answer != CudaResult.SUCCESS || result == 0) {
      memory.give(bytes);
      return answer;
    }
    ended(Memory.getLong(result));
    copies.put(Memory.getLong(result), bytes);
    return answer;
  }

  private void ended(long graph) {
    Long bytes = copies.remove(graph);
    if (bytes != null) {
      memory.give(bytes);
    }
  }

  @Override
  public int cuGraphInstantiateWithParams(long exec, long graph, long parameters) {
    return copied(
        exec, weight(graph), () -> next.cuGraphInstantiateWithParams(exec, graph, parameters));
  }

  @Override
  public int cuGraphClone(long clone, long original) {
    return copied(clone, weight(original), () -> next.cuGraphClone(clone, original));
  }

  @Override
  public int cuGraphAddNode_v2(
      long node, long graph, long dependencies, long edges, long count, long params) {
    boolean isChild = params != 0 && Memory.getInt(params) == CHILD_GRAPH;
    long bytes = isChild ? weight(Memory.getLong(params + NODE_PARAMETERS)) : 0;
    if (!memory.take(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    int answer = next.cuGraphAddNode_v2(node, graph, dependencies, edges, count, params);
    if (answer == CudaResult.SUCCESS) {
      copies.merge(graph, bytes, Long::sum);
    } else {
      memory.give(bytes);
    }
    return answer;
  }

  @Override
  public int cuStreamBeginCapture_v2(long stream, int mode) {
    toGraphs.remove(stream); // of a stream that was destroyed while it captured
    return next.cuStreamBeginCapture_v2(stream, mode);
  }

  @Override
  public int cuStreamBeginCaptureToGraph(
      long stream, long graph, long dependencies, long edges, long count, int mode) {
    if (!memory.take(0)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    ToGraph begun = new ToGraph(graph, nodes(graph));
    int answer = next.cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode);
    if (answer == CudaResult.SUCCESS) {
      toGraphs.put(stream, begun);
    }
    return answer;
  }

  /**
   * Counts the nodes of a captured graph, whose number is known only now. Those in a graph that
   * existed before stay even if they are too many.
   */
  @Override
  public int cuStreamEndCapture(long stream, long graph) {
    int answer = next.cuStreamEndCapture(stream, graph);
    ToGraph begun = toGraphs.remove(stream);
    if (begun != null) {
      long bytes = Math.max(0, nodes(begun.graph()) - begun.nodes()) * HostMemory.OBJECT;
      memory.takeBeyond(bytes);
      copies.merge(begun.graph(), bytes, Long::sum);
      return answer;
    }
    if (answer != CudaResult.SUCCESS || graph == 0 || Memory.getLong(graph) == 0) {
      return answer;
    }
    long captured = Memory.getLong(graph);
    long bytes = weight(captured);
    if (!memory.take(bytes)) {
      next.cuGraphDestroy(captured);
      return CudaResult.OUT_OF_MEMORY;
    }
    copies.merge(captured, bytes, Long::sum);
    return answer;
  }

  @Override
  public int cuGraphDestroy(long graph) {
    ended(graph);
    toGraphs.values().removeIf(begun -> begun.graph() == graph);
    return next.cuGraphDestroy(graph);
  }

  @Override
  public int cuGraphExecDestroy(long exec) {
    ended(exec);
    return next.cuGraphExecDestroy(exec);
  }

  // ---- limits of the driver

  @Override
  public int cuCtxSetLimit(int limit, long value) {
    return limit == PRINTF_BUFFER && Long.compareUnsigned(value, LARGEST_PRINTF_BUFFER) > 0
        ? CudaResult.OUT_OF_MEMORY
        : next.cuCtxSetLimit(limit, value);
  }
}
