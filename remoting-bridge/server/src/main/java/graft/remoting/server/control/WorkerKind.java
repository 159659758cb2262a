package graft.remoting.server.control;

/**
 * What a worker is made for.
 *
 * @param device its device
 * @param usesAdapter whether it may use an InfiniBand or RoCE adapter, which takes the machine's
 *     network and the adapters' device nodes into its jail
 */
public record WorkerKind(DeviceSpec device, boolean usesAdapter) {
  /** Whether a worker of this kind can serve a session that wants that one. */
  public boolean serves(WorkerKind wanted) {
    return device.equals(wanted.device) && (usesAdapter || !wanted.usesAdapter);
  }

  @Override
  public String toString() {
    return usesAdapter ? device + " with rdma" : device.toString();
  }
}
