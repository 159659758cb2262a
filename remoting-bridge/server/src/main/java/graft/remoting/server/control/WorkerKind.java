package graft.remoting.server.control;

import graft.remoting.server.system.AddressRange;

/**
 * The sessions that a worker can serve.
 *
 * @param device its device
 * @param usesAdapter whether it may use an InfiniBand or RoCE adapter, in which case its jail
 *     contains the host's network and the adapters' device nodes
 * @param addresses the number of the range in which its device memory lies ({@link AddressRange}),
 *     0 for any addresses
 * @param connections the driver's connections to the GPU, which share the work of its streams
 *     (CUDA_DEVICE_MAX_CONNECTIONS), 0 for as many as the server's environment says
 */
public record WorkerKind(DeviceSpec device, boolean usesAdapter, int addresses, int connections) {
  /** A worker that any usual program can have. */
  public WorkerKind(DeviceSpec device, boolean usesAdapter) {
    this(device, usesAdapter, AddressRange.ANY, 0);
  }

  /** The control daemon of NVIDIA's MPS, which is confined as workers are and serves no session. */
  public static final WorkerKind MPS = new WorkerKind(DeviceSpec.parse(DeviceSpec.MPS), false);

  /** Returns whether it is NVIDIA's MPS and no worker. */
  public boolean isMps() {
    return device.kind().equals(DeviceSpec.MPS);
  }

  /** Returns whether a worker of this kind can serve a session that needs the other kind. */
  public boolean serves(WorkerKind wanted) {
    return device.equals(wanted.device)
        && addresses == wanted.addresses
        && connections == wanted.connections
        && (usesAdapter || !wanted.usesAdapter);
  }

  @Override
  public String toString() {
    return device
        + (usesAdapter ? " with rdma" : "")
        + (addresses == AddressRange.ANY ? "" : " in address range " + addresses)
        + (connections == 0 ? "" : " with " + connections + " connections to the GPU");
  }
}
