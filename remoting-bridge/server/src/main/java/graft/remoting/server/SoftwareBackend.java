package graft.remoting.server;

import graft.remoting.software.SoftwareDevice;
import graft.remoting.software.SoftwareDeviceConfig;

/** Sessions on the software device: no GPU, for trials and tests. */
public final class SoftwareBackend implements Backend {
  private WarmDevice device;

  @Override
  public String kind() {
    return "software";
  }

  @Override
  public String open() throws ServerException {
    device = WarmDevice.open(SoftwareDevice.create(SoftwareDeviceConfig.defaults()));
    return device.description();
  }

  @Override
  public RecordHandler begin(Channel channel, String name, long memoryLimit, int spinMicros) {
    return device.session(channel, memoryLimit, spinMicros);
  }
}
