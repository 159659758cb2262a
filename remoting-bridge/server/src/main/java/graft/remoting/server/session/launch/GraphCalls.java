package graft.remoting.server.session.launch;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.HandleTables;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The calls on whole graphs: captures, instances and updates. */
public final class GraphCalls implements SessionCalls.Graph {
  private static final int MAX_NODES = 1 << 22;

  private final AccountedDevice device;
  private final HandleTables handles;

  public GraphCalls(AccountedDevice device, HandleTables handles) {
    this.device = device;
    this.handles = handles;
  }

  @Override
  public int graftStreamCaptureInfo(
      Call call,
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

  @Override
  public int graftGraphNodes(
      Call call, long graph, int roots, long nodes, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    long list = capacity == 0 ? 0 : nodes;
    return roots != 0
        ? device.cuGraphGetRootNodes(graph, list, count)
        : device.cuGraphGetNodes(graph, list, count);
  }

  @Override
  public int graftGraphEdges(
      Call call, long graph, long from, long to, long edges, long capacity, long count) {
    if (count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putLong(count, capacity);
    return capacity == 0 || from == 0 || to == 0
        ? device.cuGraphGetEdges_v2(graph, 0, 0, 0, count)
        : device.cuGraphGetEdges_v2(graph, from, to, edges, count);
  }

  @Override
  public int graftGraphNeighbours(
      Call call, long node, int dependents, long nodes, long edges, long capacity, long count) {
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

  @Override
  public int graftGraphInstantiate(
      Call call, long exec, long graph, long flags, long upload, long failed, long outcome) {
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

  @Override
  public int graftGraphUpdate(
      Call call, long exec, long graph, long outcome, long node, long from) {
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

  /** Destroys a graph. The driver may reuse the handles of its nodes. */
  @Override
  public int cuGraphDestroy(Call call, long graph) {
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
   * Returns part of the description of a graph, which the driver writes to a file of this process.
   */
  @Override
  public int graftGraphDot(
      Call call, long graph, int flags, long offset, long text, int capacity, long length) {
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
