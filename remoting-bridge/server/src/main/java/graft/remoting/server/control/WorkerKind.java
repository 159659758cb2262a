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
 */
public record WorkerKind(DeviceSpec device, boolean usesAdapter, int addresses) {
  /** A worker whose device memory may lie anywhere. */
  public WorkerKind(DeviceSpec device, boolean usesAdapter) {
    this(device, usesAdapter, AddressRange.ANY);
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
        && (usesAdapter || !wanted.usesAdapter);
  }

  @Override
  public String toString() {
    return device
        + (usesAdapter ? " with rdma" : "")
        + (addresses == AddressRange.ANY ? "" : " in address range " + addresses);
  }
}
