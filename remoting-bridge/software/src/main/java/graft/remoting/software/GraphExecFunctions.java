package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.GraphExecApi;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Graph;
import graft.remoting.software.object.GraphExec;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;

/** CUDA driver API: the executable graphs of "Graph Management". */
final class GraphExecFunctions implements GraphExecApi {
  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final Streams streams;
  private final NodeBodies nodeBodies;

  GraphExecFunctions(
      Calls calls, Handles handles, Contexts contexts, Streams streams, NodeBodies nodeBodies) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.streams = streams;
    this.nodeBodies = nodeBodies;
  }

  private GraphNode copyIn(long exec, long node) {
    GraphNode copy = handles.get(exec, GraphExec.class).copyOf(handles.get(node, GraphNode.class));
    require(copy != null, "the node is not of this graph");
    return copy;
  }

  @Override
  public int cuGraphExecKernelNodeSetParams_v2(long exec, long node, long parameters) {
    return calls.run(() -> copyIn(exec, node).setBody(nodeBodies.kernelBody(parameters)));
  }

  @Override
  public int cuGraphExecNodeSetParams(long exec, long node, long parameters) {
    return calls.run(() -> nodeBodies.setParameters(copyIn(exec, node), parameters));
  }

  @Override
  public int cuGraphInstantiateWithFlags(long exec, long graph, long flags) {
    return calls.run(
        () -> {
          Graph g = handles.get(graph, Graph.class);
          require(
              g.isValid(),
              "the graph has a cycle, a node where it cannot be, or a fill without memory");
          putLong(exec, handles.add(new GraphExec(g, flags)));
        });
  }

  /** CUDA_GRAPH_INSTANTIATE_PARAMS: flags at 0, result at 24. */
  @Override
  public int cuGraphInstantiateWithParams(long exec, long graph, long parameters) {
    UNSAFE.putInt(parameters + 24, 0);
    return cuGraphInstantiateWithFlags(exec, graph, UNSAFE.getLong(parameters));
  }

  @Override
  public int cuGraphInstantiate_v2(long exec, long graph, long node, long log, long size) {
    return cuGraphInstantiateWithFlags(exec, graph, 0);
  }

  @Override
  public int cuGraphExecDestroy(long exec) {
    return calls.run(
        () -> {
          GraphExec gone = handles.get(exec, GraphExec.class);
          handles.remove(exec);
          contexts.await(); // it may still run
          gone.release();
        });
  }

  @Override
  public int cuGraphExecGetFlags(long exec, long flags) {
    return calls.run(() -> putLong(flags, handles.get(exec, GraphExec.class).flags()));
  }

  /** CUgraphExecUpdateResultInfo: result at 0, nodes at 8 and 16. */
  @Override
  public int cuGraphExecUpdate_v2(long exec, long graph, long info) {
    return calls.run(
        () -> {
          GraphExec e = handles.get(exec, GraphExec.class);
          boolean fits = e.matches(handles.get(graph, Graph.class));
          if (info != 0) {
            UNSAFE.putInt(info, fits ? 0 : 2); // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
            putLong(info + 8, 0);
            putLong(info + 16, 0);
          }
          if (!fits) {
            throw new CudaException(910, "the graph has another shape");
          }
          e.replace(handles.get(graph, Graph.class));
        });
  }

  @Override
  public int cuGraphNodeSetEnabled(long exec, long node, int enabled) {
    return calls.run(
        () -> handles.get(exec, GraphExec.class).setEnabled(copyIn(exec, node), enabled != 0));
  }

  @Override
  public int cuGraphNodeGetEnabled(long exec, long node, long enabled) {
    return calls.run(
        () ->
            putInt(
                enabled, handles.get(exec, GraphExec.class).isEnabled(copyIn(exec, node)) ? 1 : 0));
  }

  @Override
  public int cuGraphUpload(long exec, long stream) {
    return calls.run(
        () -> {
          handles.get(exec, GraphExec.class);
          streams.get(stream);
        });
  }

  @Override
  public int cuGraphLaunch(long exec, long stream) {
    return calls.run(
        () -> {
          GraphExec e = handles.get(exec, GraphExec.class);
          Stream s = streams.get(stream);
          if (s.capture() != null) {
            throw new CudaException(CudaResult.NOT_SUPPORTED, "launching a graph while capturing");
          }
          e.launch(s);
        });
  }
}
