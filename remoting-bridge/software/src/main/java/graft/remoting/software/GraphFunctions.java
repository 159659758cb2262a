package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.GraphApi;
import graft.remoting.software.object.Allocations;
import graft.remoting.software.object.Conditional;
import graft.remoting.software.object.ConditionalNodes;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.Event;
import graft.remoting.software.object.Graph;
import graft.remoting.software.object.GraphMemory;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Task;
import java.util.ArrayList;
import java.util.List;

/** CUDA driver API: "Graph Management". */
final class GraphFunctions implements GraphApi {
  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final BlockCopies blockCopies;
  private final NodeBodies nodeBodies;
  private final ConditionalNodes conditionalNodes;

  GraphFunctions(
      Calls calls,
      Handles handles,
      Contexts contexts,
      BlockCopies blockCopies,
      NodeBodies nodeBodies) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.blockCopies = blockCopies;
    this.nodeBodies = nodeBodies;
    this.conditionalNodes = new ConditionalNodes(handles, contexts);
  }

  private Graph graph(long handle) {
    return handles.get(handle, Graph.class);
  }

  private List<GraphNode> nodes(long array, long count) {
    return handles.get(array, count, GraphNode.class);
  }

  /** What every call that adds a node says: where its handle goes, and where the node belongs. */
  private record Place(long result, long graph, long dependencies, long count) {}

  private GraphNode add(Place place, GraphNode.Type type, Runnable body) {
    Graph g = graph(place.graph());
    GraphNode node;
    synchronized (g) {
      node = g.add(type, body, nodes(place.dependencies(), place.count()));
    }
    node.setHandle(handles.add(node));
    putLong(place.result(), node.handle());
    return node;
  }

  @Override
  public int cuGraphCreate(long graph, int flags) {
    return calls.run(
        () -> {
          require(flags == 0, "flags must be 0");
          putLong(graph, handles.add(new Graph()));
        });
  }

  @Override
  public int cuGraphDestroy(long graph) {
    return calls.run(
        () -> {
          Graph gone = graph(graph);
          conditionalNodes.forget(gone);
          handles.remove(graph);
          gone.memory().release();
        });
  }

  @Override
  public int cuGraphClone(long clone, long original) {
    return calls.run(
        () -> {
          ConditionalNodes.refuseCopy(graph(original));
          Graph copy = new Graph(graph(original).memory().share());
          graph(original).copyInto(copy);
          copy.nodes().forEach(n -> n.setHandle(handles.add(n)));
          putLong(clone, handles.add(copy));
        });
  }

  @Override
  public int cuGraphAddEmptyNode(long node, long graph, long dependencies, long count) {
    return calls.run(
        () -> add(new Place(node, graph, dependencies, count), GraphNode.Type.EMPTY, () -> {}));
  }

  @Override
  public int cuGraphAddKernelNode_v2(
      long node, long graph, long dependencies, long count, long parameters) {
    return calls.run(
        () ->
            add(
                new Place(node, graph, dependencies, count),
                GraphNode.Type.KERNEL,
                nodeBodies.kernelBody(parameters)));
  }

  @Override
  public int cuGraphKernelNodeSetParams_v2(long node, long parameters) {
    return calls.run(
        () -> handles.get(node, GraphNode.class).setBody(nodeBodies.kernelBody(parameters)));
  }

  @Override
  public int cuGraphAddMemcpyNode(
      long node, long graph, long dependencies, long count, long parameters, long context) {
    return calls.run(
        () ->
            add(
                new Place(node, graph, dependencies, count),
                GraphNode.Type.MEMCPY,
                blockCopies.copy3D(parameters).body()));
  }

  @Override
  public int cuGraphAddMemsetNode(
      long node, long graph, long dependencies, long count, long parameters, long context) {
    return calls.run(
        () ->
            add(
                new Place(node, graph, dependencies, count),
                GraphNode.Type.MEMSET,
                nodeBodies.memsetBody(parameters)));
  }

  @Override
  public int cuGraphAddHostNode(
      long node, long graph, long dependencies, long count, long parameters) {
    return calls.run(
        () ->
            add(
                new Place(node, graph, dependencies, count),
                GraphNode.Type.HOST,
                NodeBodies.hostBody(parameters)));
  }

  @Override
  public int cuGraphAddChildGraphNode(
      long node, long graph, long dependencies, long count, long child) {
    return calls.run(
        () -> {
          ConditionalNodes.refuseCopy(graph(child));
          Graph copy = new Graph();
          graph(child).copyInto(copy);
          add(new Place(node, graph, dependencies, count), GraphNode.Type.GRAPH, () -> {})
              .setChild(copy);
        });
  }

  @Override
  public int cuGraphAddEventRecordNode(
      long node, long graph, long dependencies, long count, long event) {
    return calls.run(
        () -> {
          Event e = handles.get(event, Event.class);
          add(
              new Place(node, graph, dependencies, count),
              GraphNode.Type.EVENT_RECORD,
              () -> e.record(Task.ended()));
        });
  }

  @Override
  public int cuGraphAddEventWaitNode(
      long node, long graph, long dependencies, long count, long event) {
    return calls.run(
        () -> {
          Event e = handles.get(event, Event.class);
          add(
              new Place(node, graph, dependencies, count),
              GraphNode.Type.WAIT_EVENT,
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
      case 13 ->
          calls.run(
              () -> {
                Conditional conditional = conditionalNodes.create(graph(graph), p);
                add(
                        new Place(node, graph, dependencies, count),
                        GraphNode.Type.CONDITIONAL,
                        () -> {})
                    .setConditional(conditional);
              });
      default -> CudaResult.NOT_SUPPORTED;
    };
  }

  @Override
  public int cuGraphConditionalHandleCreate(
      long handle, long graph, long context, int value, int flags) {
    return calls.run(() -> putLong(handle, conditionalNodes.condition(graph(graph), value, flags)));
  }

  /** CUDA_MEM_ALLOC_NODE_PARAMS: the size at 104, the address at 112. */
  @Override
  public int cuGraphAddMemAllocNode(
      long node, long graph, long dependencies, long count, long parameters) {
    return calls.run(
        () -> {
          GraphMemory memory = graph(graph).memory();
          long address =
              Allocations.allocateFor(memory, contexts.memory(), UNSAFE.getLong(parameters + 104));
          add(
                  new Place(node, graph, dependencies, count),
                  GraphNode.Type.ALLOCATE,
                  () -> memory.allocated(address))
              .setAddress(address);
          putLong(parameters + 112, address);
        });
  }

  @Override
  public int cuGraphAddMemFreeNode(
      long node, long graph, long dependencies, long count, long address) {
    return calls.run(
        () -> {
          Runnable free = Allocations.freeLater(contexts.current().gpu().memory(), address);
          add(new Place(node, graph, dependencies, count), GraphNode.Type.FREE, free)
              .setAddress(address);
        });
  }

  @Override
  public int cuGraphMemFreeNodeGetParams(long node, long address) {
    return calls.run(
        () -> {
          GraphNode found = handles.get(node, GraphNode.class);
          require(found.type() == GraphNode.Type.FREE, "not a free node");
          putLong(address, found.address());
        });
  }

  @Override
  public int cuGraphNodeSetParams(long node, long parameters) {
    return calls.run(
        () -> nodeBodies.setParameters(handles.get(node, GraphNode.class), parameters));
  }

  @Override
  public int cuGraphChildGraphNodeGetGraph(long node, long graph) {
    return calls.run(
        () -> {
          Graph child = handles.get(node, GraphNode.class).child();
          require(child != null, "not a child graph's node");
          for (GraphNode n : child.nodes()) {
            if (n.handle() == 0) {
              n.setHandle(handles.add(n));
            }
          }
          putLong(graph, handles.handleOf(child));
        });
  }

  @Override
  public int cuGraphGetEdges_v2(long graph, long from, long to, long edges, long count) {
    return calls.run(
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
    return calls.run(() -> list(array, count, handles.get(node, GraphNode.class).dependencies()));
  }

  @Override
  public int cuGraphNodeGetDependentNodes_v2(long node, long array, long edges, long count) {
    return calls.run(
        () -> {
          GraphNode n = handles.get(node, GraphNode.class);
          list(
              array,
              count,
              n.graph().nodes().stream().filter(o -> o.dependencies().contains(n)).toList());
        });
  }

  @Override
  public int cuGraphRemoveDependencies_v2(long graph, long from, long to, long edges, long count) {
    return calls.run(
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
    return calls.run(
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
    return calls.run(
        () -> {
          GraphNode gone = handles.get(node, GraphNode.class);
          gone.graph().remove(gone);
          conditionalNodes.forget(gone);
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
    return calls.run(() -> list(array, count, graph(graph).nodes()));
  }

  @Override
  public int cuGraphGetRootNodes(long graph, long array, long count) {
    return calls.run(() -> list(array, count, graph(graph).roots()));
  }

  @Override
  public int cuGraphNodeGetType(long node, long type) {
    return calls.run(() -> putInt(type, handles.get(node, GraphNode.class).type().ordinal()));
  }
}
