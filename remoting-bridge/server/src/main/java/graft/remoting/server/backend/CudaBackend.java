package graft.remoting.server.backend;

import graft.remoting.device.CudaDevice;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.device.NativeDevice;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import java.util.function.BooleanSupplier;

/** Sessions on the GPUs that the CUDA driver shows to this process. */
public final class CudaBackend implements Backend {
  private WarmDevice device;
  private GpuDirect.Setting gpuDirect;

  @Override
  public String kind() {
    return DeviceSpec.CUDA;
  }

  @Override
  public String open(boolean makesContext) throws ServerException {
    gpuDirect = GpuDirect.Setting.parse(System.getenv(GpuDirect.VARIABLE));
    CudaDevice driver = NativeDevice.load();
    device = WarmDevice.open(driver, false, makesContext);
    return device.description();
  }

  @Override
  public void warmUp(int spinMicros, BooleanSupplier goOn) {
    device.warmUp(spinMicros, goOn);
  }

  @Override
  public void prepareUcx() {
    device.findGpuDirect(gpuDirect);
  }

  @Override
  public void connectedByUcx(boolean overAdapter) {
    device.settleGpuDirect(overAdapter);
  }

  @Override
  public String uuid() {
    return device.uuid();
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return device.session(channel, terms);
  }
}
