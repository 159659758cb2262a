package graft.remoting.server.control;

/**
 * The sessions that a worker can serve.
 *
 * @param device its device
 * @param usesAdapter whether it may use an InfiniBand or RoCE adapter, in which case its jail
 *     contains the host's network and the adapters' device nodes
 */
public record WorkerKind(DeviceSpec device, boolean usesAdapter) {
  /** Returns whether a worker of this kind can serve a session that needs the other kind. */
  public boolean serves(WorkerKind wanted) {
    return device.equals(wanted.device) && (usesAdapter || !wanted.usesAdapter);
  }

  @Override
  public String toString() {
    return usesAdapter ? device + " with rdma" : device.toString();
  }
}
