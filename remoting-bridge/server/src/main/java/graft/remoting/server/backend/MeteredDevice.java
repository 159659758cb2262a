package graft.remoting.server.backend;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.HandleFiles;
import graft.remoting.device.WorkDevice;
import graft.remoting.server.exchange.GpuLease;

/**
 * A device whose calls return when their work is done, so that the time in calls is the time of
 * work. Work begins while the session has the lease.
 */
final class MeteredDevice extends WorkDevice implements HandleFiles {
  private volatile GpuLease lease = GpuLease.endless();

  MeteredDevice(CudaDevice next) {
    super(next);
  }

  /** Sets the lease of the session that begins. */
  void lease(GpuLease ofSession) {
    lease = ofSession;
  }

  @Override
  protected void begin() {
    lease.begin();
  }

  @Override
  protected void end() {
    lease.end();
  }

  @Override
  public int file(long handle) {
    return HandleFiles.of(next).file(handle);
  }

  @Override
  public void adopt(long handle, int descriptor) {
    HandleFiles.of(next).adopt(handle, descriptor);
  }
}
