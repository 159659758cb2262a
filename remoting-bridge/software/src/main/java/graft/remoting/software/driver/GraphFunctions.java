package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import java.util.ArrayList;
import java.util.List;

/** CUDA driver API: "Graph Management". */
abstract class GraphFunctions extends LaunchFunctions {
  GraphFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  private Graph graph(long handle) {
    return handles().get(handle, Graph.class);
  }

  private List<GraphNode> nodes(long array, long count) {
    List<GraphNode> nodes = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      nodes.add(handles().get(UNSAFE.getLong(array + 8 * i), GraphNode.class));
    }
    return nodes;
  }

  private GraphNode add(
      long result, long graph, GraphNode.Type type, long dependencies, long count, Runnable body) {
    Graph g = graph(graph);
    GraphNode node;
    synchronized (g) {
      node = g.add(type, body, nodes(dependencies, count));
    }
    node.setHandle(handles().add(node));
    putLong(result, node.handle());
    return node;
  }

  @Override
  public int cuGraphCreate(long graph, int flags) {
    return call(
        () -> {
          require(flags == 0, "flags must be 0");
          putLong(graph, handles().add(new Graph()));
        });
  }

  @Override
  public int cuGraphDestroy(long graph) {
    return call(
        () -> {
          Graph gone = graph(graph);
          gone.nodes().forEach(n -> handles().remove(n.handle()));
          handles().remove(graph);
          gone.memory().release();
        });
  }

  @Override
  public int cuGraphClone(long clone, long original) {
    return call(
        () -> {
          Graph copy = new Graph(graph(original).memory().share());
          graph(original).copyInto(copy);
          copy.nodes().forEach(n -> n.setHandle(handles().add(n)));
          putLong(clone, handles().add(copy));
        });
  }

  @Override
  public int cuGraphAddEmptyNode(long node, long graph, long dependencies, long count) {
    return call(() -> add(node, graph, GraphNode.Type.EMPTY, dependencies, count, () -> {}));
  }

  /** CUDA_KERNEL_NODE_PARAMS: function, grid, block, shared bytes, parameters, extra, kernel. */
  private Runnable kernelBody(long p) {
    long function = UNSAFE.getLong(p);
    long kernel = UNSAFE.getLong(p + 56);
    return prepare(
        new Request(
            function != 0 ? function : kernel,
            ints(p + 8),
            ints(p + 20),
            UNSAFE.getInt(p + 32),
            UNSAFE.getLong(p + 40),
            UNSAFE.getLong(p + 48),
            LaunchAttributes.NONE),
        context());
  }

  @Override
  public int cuGraphAddKernelNode_v2(
      long node, long graph, long dependencies, long count, long parameters) {
    return call(
        () -> add(node, graph, GraphNode.Type.KERNEL, dependencies, count, kernelBody(parameters)));
  }

  @Override
  public int cuGraphKernelNodeSetParams_v2(long node, long parameters) {
    return call(() -> handles().get(node, GraphNode.class).setBody(kernelBody(parameters)));
  }

  @Override
  public int cuGraphExecKernelNodeSetParams_v2(long exec, long node, long parameters) {
    return call(() -> copyIn(exec, node).setBody(kernelBody(parameters)));
  }

  private GraphNode copyIn(long exec, long node) {
    GraphNode copy =
        handles().get(exec, GraphExec.class).copyOf(handles().get(node, GraphNode.class));
    require(copy != null, "the node is not of this graph");
    return copy;
  }

  @Override
  public int cuGraphAddMemcpyNode(
      long node, long graph, long dependencies, long count, long parameters, long context) {
    return call(
        () ->
            add(
                node,
                graph,
                GraphNode.Type.MEMCPY,
                dependencies,
                count,
                copy3D(parameters).body()));
  }

  /** CUDA_MEMSET_NODE_PARAMS: address, pitch, value, element size, width, height. */
  private Runnable memsetBody(long p) {
    return fill(
        UNSAFE.getLong(p),
        UNSAFE.getLong(p + 8),
        UNSAFE.getInt(p + 16),
        UNSAFE.getInt(p + 20),
        UNSAFE.getLong(p + 24),
        UNSAFE.getLong(p + 32));
  }

  @Override
  public int cuGraphAddMemsetNode(
      long node, long graph, long dependencies, long count, long parameters, long context) {
    return call(
        () -> add(node, graph, GraphNode.Type.MEMSET, dependencies, count, memsetBody(parameters)));
  }

  private static Runnable hostBody(long p) {
    long function = UNSAFE.getLong(p);
    long userData = UNSAFE.getLong(p + 8);
    return () -> HostCall.run(function, userData);
  }

  @Override
  public int cuGraphAddHostNode(
      long node, long graph, long dependencies, long count, long parameters) {
    return call(
        () -> add(node, graph, GraphNode.Type.HOST, dependencies, count, hostBody(parameters)));
  }

  @Override
  public int cuGraphAddChildGraphNode(
      long node, long graph, long dependencies, long count, long child) {
    return call(
        () -> {
          Graph copy = new Graph();
          graph(child).copyInto(copy);
          add(node, graph, GraphNode.Type.GRAPH, dependencies, count, () -> {}).setChild(copy);
        });
  }

  @Override
  public int cuGraphAddEventRecordNode(
      long node, long graph, long dependencies, long count, long event) {
    return call(
        () -> {
          Event e = handles().get(event, Event.class);
          add(
              node,
              graph,
              GraphNode.Type.EVENT_RECORD,
              dependencies,
              count,
              () -> e.record(Task.ended()));
        });
  }

  @Override
  public int cuGraphAddEventWaitNode(
      long node, long graph, long dependencies, long count, long event) {
    return call(
        () -> {
          Event e = handles().get(event, Event.class);
          add(
              node,
              graph,
              GraphNode.Type.WAIT_EVENT,
              dependencies,
              count,
              () -> {
                if (e.task() != null) {
                  e.task().await();
                }
              });
        });
  }

  /** CUgraphNodeParams: type at 0, the node's own parameters at 16. */
  @Override
  public int cuGraphAddNode_v2(
      long node, long graph, long dependencies, long edges, long count, long parameters) {
    long p = parameters + 16;
    return switch (UNSAFE.getInt(parameters)) {
      case 0 -> cuGraphAddKernelNode_v2(node, graph, dependencies, count, p);
      case 1 -> cuGraphAddMemcpyNode(node, graph, dependencies, count, p + 16, 0);
      case 2 -> cuGraphAddMemsetNode(node, graph, dependencies, count, p, 0);
      case 3 -> cuGraphAddHostNode(node, graph, dependencies, count, p);
      case 4 -> cuGraphAddChildGraphNode(node, graph, dependencies, count, UNSAFE.getLong(p));
      case 5 -> cuGraphAddEmptyNode(node, graph, dependencies, count);
      case 6 -> cuGraphAddEventWaitNode(node, graph, dependencies, count, UNSAFE.getLong(p));
      case 7 -> cuGraphAddEventRecordNode(node, graph, dependencies, count, UNSAFE.getLong(p));
      case 10 -> cuGraphAddMemAllocNode(node, graph, dependencies, count, p);
      case 11 -> cuGraphAddMemFreeNode(node, graph, dependencies, count, UNSAFE.getLong(p));
      default -> CudaResult.NOT_SUPPORTED;
    };
  }

  /** CUDA_MEM_ALLOC_NODE_PARAMS: the size at 104, the address at 112. */
  @Override
  public int cuGraphAddMemAllocNode(
      long node, long graph, long dependencies, long count, long parameters) {
    return call(
        () -> {
          long address = allocateFor(graph(graph).memory(), UNSAFE.getLong(parameters + 104));
          add(node, graph, GraphNode.Type.ALLOCATE, dependencies, count, () -> {})
              .setAddress(address);
          putLong(parameters + 112, address);
        });
  }

  @Override
  public int cuGraphAddMemFreeNode(
      long node, long graph, long dependencies, long count, long address) {
    return call(
        () -> {
          Runnable free = freeLater(context().gpu().memory(), address);
          add(node, graph, GraphNode.Type.FREE, dependencies, count, free).setAddress(address);
        });
  }

  @Override
  public int cuGraphMemFreeNodeGetParams(long node, long address) {
    return call(
        () -> {
          GraphNode found = handles().get(node, GraphNode.class);
          require(found.type() == GraphNode.Type.FREE, "not a free node");
          putLong(address, found.address());
        });
  }

  /** What runs a node of that type with those parameters of CUgraphNodeParams. */
  private Runnable body(long parameters) {
    long p = parameters + 16;
    return switch (UNSAFE.getInt(parameters)) {
      case 0 -> kernelBody(p);
      case 1 -> copy3D(p + 16).body();
      case 2 -> memsetBody(p);
      case 3 -> hostBody(p);
      default ->
          throw new CudaException(
              CudaResult.NOT_SUPPORTED, "other parameters for a node of this type");
    };
  }

  private void setParameters(GraphNode node, long parameters) {
    require(
        node.type().ordinal() == UNSAFE.getInt(parameters), "parameters of another type of node");
    node.setBody(body(parameters));
  }

  @Override
  public int cuGraphNodeSetParams(long node, long parameters) {
    return call(() -> setParameters(handles().get(node, GraphNode.class), parameters));
  }

  @Override
  public int cuGraphExecNodeSetParams(long exec, long node, long parameters) {
    return call(() -> setParameters(copyIn(exec, node), parameters));
  }

  @Override
  public int cuGraphChildGraphNodeGetGraph(long node, long graph) {
    return call(
        () -> {
          Graph child = handles().get(node, GraphNode.class).child();
          require(child != null, "not a child graph's node");
          for (GraphNode n : child.nodes()) {
            if (n.handle() == 0) {
              n.setHandle(handles().add(n));
            }
          }
          putLong(graph, handles().handleOf(child));
        });
  }

  @Override
  public int cuGraphGetEdges_v2(long graph, long from, long to, long edges, long count) {
    return call(
        () -> {
          List<GraphNode> sources = new ArrayList<>();
          List<GraphNode> targets = new ArrayList<>();
          for (GraphNode node : graph(graph).nodes()) {
            for (GraphNode dependency : node.dependencies()) {
              sources.add(dependency);
              targets.add(node);
            }
          }
          long room = count == 0 ? 0 : UNSAFE.getLong(count);
          list(from, count, sources);
          putLong(count, room);
          list(to, count, targets);
        });
  }

  @Override
  public int cuGraphNodeGetDependencies_v2(long node, long array, long edges, long count) {
    return call(() -> list(array, count, handles().get(node, GraphNode.class).dependencies()));
  }

  @Override
  public int cuGraphNodeGetDependentNodes_v2(long node, long array, long edges, long count) {
    return call(
        () -> {
          GraphNode n = handles().get(node, GraphNode.class);
          list(
              array,
              count,
              n.graph().nodes().stream().filter(o -> o.dependencies().contains(n)).toList());
        });
  }

  @Override
  public int cuGraphRemoveDependencies_v2(long graph, long from, long to, long edges, long count) {
    return call(
        () -> {
          graph(graph);
          List<GraphNode> sources = nodes(from, count);
          List<GraphNode> targets = nodes(to, count);
          for (int i = 0; i < sources.size(); i++) {
            require(targets.get(i).dependencies().remove(sources.get(i)), "no such dependency");
          }
        });
  }

  @Override
  public int cuGraphAddDependencies_v2(long graph, long from, long to, long edges, long count) {
    return call(
        () -> {
          graph(graph);
          List<GraphNode> sources = nodes(from, count);
          List<GraphNode> targets = nodes(to, count);
          for (int i = 0; i < sources.size(); i++) {
            targets.get(i).dependencies().add(sources.get(i));
          }
        });
  }

  @Override
  public int cuGraphDestroyNode(long node) {
    return call(
        () -> {
          GraphNode gone = handles().get(node, GraphNode.class);
          gone.graph().remove(gone);
          handles().remove(node);
        });
  }

  private void list(long array, long count, List<GraphNode> found) {
    require(count != 0, "null pointer for a result");
    if (array != 0) {
      long room = UNSAFE.getLong(count);
      for (int i = 0; i < Math.min(room, found.size()); i++) {
        putLong(array + 8L * i, found.get(i).handle());
      }
    }
    putLong(count, found.size());
  }

  @Override
  public int cuGraphGetNodes(long graph, long array, long count) {
    return call(() -> list(array, count, graph(graph).nodes()));
  }

  @Override
  public int cuGraphGetRootNodes(long graph, long array, long count) {
    return call(() -> list(array, count, graph(graph).roots()));
  }

  @Override
  public int cuGraphNodeGetType(long node, long type) {
    return call(() -> putInt(type, handles().get(node, GraphNode.class).type().ordinal()));
  }

  // ---- executable graphs

  @Override
  public int cuGraphInstantiateWithFlags(long exec, long graph, long flags) {
    return call(
        () -> {
          Graph g = graph(graph);
          require(g.sorted() != null, "the graph has a cycle");
          putLong(exec, handles().add(new GraphExec(g, flags)));
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
    return call(
        () -> {
          GraphExec gone = handles().get(exec, GraphExec.class);
          handles().remove(exec);
          awaitCurrent(); // it may still run
          gone.release();
        });
  }

  @Override
  public int cuGraphExecGetFlags(long exec, long flags) {
    return call(() -> putLong(flags, handles().get(exec, GraphExec.class).flags()));
  }

  /** CUgraphExecUpdateResultInfo: result at 0, nodes at 8 and 16. */
  @Override
  public int cuGraphExecUpdate_v2(long exec, long graph, long info) {
    return call(
        () -> {
          GraphExec e = handles().get(exec, GraphExec.class);
          boolean fits = e.matches(graph(graph));
          if (info != 0) {
            UNSAFE.putInt(info, fits ? 0 : 2); // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
            putLong(info + 8, 0);
            putLong(info + 16, 0);
          }
          if (!fits) {
            throw new CudaException(910, "the graph has another shape");
          }
          e.replace(graph(graph));
        });
  }

  @Override
  public int cuGraphNodeSetEnabled(long exec, long node, int enabled) {
    return call(
        () -> handles().get(exec, GraphExec.class).setEnabled(copyIn(exec, node), enabled != 0));
  }

  @Override
  public int cuGraphNodeGetEnabled(long exec, long node, long enabled) {
    return call(
        () ->
            putInt(
                enabled,
                handles().get(exec, GraphExec.class).isEnabled(copyIn(exec, node)) ? 1 : 0));
  }

  @Override
  public int cuGraphUpload(long exec, long stream) {
    return call(
        () -> {
          handles().get(exec, GraphExec.class);
          stream(stream);
        });
  }

  @Override
  public int cuGraphLaunch(long exec, long stream) {
    return call(
        () -> {
          GraphExec e = handles().get(exec, GraphExec.class);
          Stream s = stream(stream);
          if (s.capture() != null) {
            throw new CudaException(CudaResult.NOT_SUPPORTED, "launching a graph while capturing");
          }
          e.launch(s);
        });
  }
}
