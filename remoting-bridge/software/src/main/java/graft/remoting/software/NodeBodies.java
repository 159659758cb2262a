package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.ints;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.HostCall;
import graft.remoting.software.object.LaunchAttributes;

/** The work of graph nodes, by the parameters that a program gives. */
final class NodeBodies {
  private final Contexts contexts;
  private final Launches launches;
  private final BlockCopies blockCopies;
  private final Fills fills;

  NodeBodies(Contexts contexts, Launches launches, BlockCopies blockCopies, Fills fills) {
    this.contexts = contexts;
    this.launches = launches;
    this.blockCopies = blockCopies;
    this.fills = fills;
  }

  /** CUDA_KERNEL_NODE_PARAMS: function, grid, block, shared bytes, parameters, extra, kernel. */
  Runnable kernelBody(long p) {
    long function = UNSAFE.getLong(p);
    long kernel = UNSAFE.getLong(p + 56);
    return launches.prepare(
        new Launches.Request(
            function != 0 ? function : kernel,
            ints(p + 8),
            ints(p + 20),
            UNSAFE.getInt(p + 32),
            UNSAFE.getLong(p + 40),
            UNSAFE.getLong(p + 48),
            LaunchAttributes.NONE),
        contexts.current());
  }

  /** CUDA_MEMSET_NODE_PARAMS: address, pitch, value, element size, width, height. */
  Runnable memsetBody(long p) {
    return fills.fill(
        UNSAFE.getLong(p),
        UNSAFE.getLong(p + 8),
        UNSAFE.getInt(p + 16),
        UNSAFE.getInt(p + 20),
        UNSAFE.getLong(p + 24),
        UNSAFE.getLong(p + 32));
  }

  static Runnable hostBody(long p) {
    long function = UNSAFE.getLong(p);
    long userData = UNSAFE.getLong(p + 8);
    return () -> HostCall.run(function, userData);
  }

  /** Returns the task for a node with these CUgraphNodeParams. */
  private Runnable body(long parameters) {
    long p = parameters + 16;
    return switch (UNSAFE.getInt(parameters)) {
      case 0 -> kernelBody(p);
      case 1 -> blockCopies.copy3D(p + 16).body();
      case 2 -> memsetBody(p);
      case 3 -> hostBody(p);
      default ->
          throw new CudaException(
              CudaResult.NOT_SUPPORTED, "other parameters for a node of this type");
    };
  }

  void setParameters(GraphNode node, long parameters) {
    require(
        node.type().ordinal() == UNSAFE.getInt(parameters), "parameters of another type of node");
    node.setBody(body(parameters));
  }
}
