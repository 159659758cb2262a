package graft.remoting.server;

import graft.remoting.device.CudaDevice;
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
  public String open() throws ServerException {
    gpuDirect = GpuDirect.Setting.parse(System.getenv(GpuDirect.VARIABLE));
    CudaDevice driver = NativeDevice.load();
    device = WarmDevice.open(driver, false);
    return device.description();
  }

  @Override
  public void rehearse(int spinMicros, BooleanSupplier goOn) {
    device.rehearse(spinMicros, goOn);
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
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return device.session(channel, terms);
  }
}
