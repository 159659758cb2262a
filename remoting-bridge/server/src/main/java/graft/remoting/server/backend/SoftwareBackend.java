package graft.remoting.server.backend;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import graft.remoting.software.SoftwareDevice;
import graft.remoting.software.SoftwareDeviceConfig;

/**
 * Sessions on the software device, which needs no GPU. {@code GRAFT_SOFTWARE_DEVICES} in the
 * server's environment sets the number of devices of a session, for programs that use several.
 */
public final class SoftwareBackend implements Backend {
  private WarmDevice device;

  @Override
  public String kind() {
    return DeviceSpec.SOFTWARE;
  }

  @Override
  public String open(boolean makesContext) throws ServerException {
    String count = System.getenv().getOrDefault("GRAFT_SOFTWARE_DEVICES", "");
    SoftwareDeviceConfig config = SoftwareDeviceConfig.defaults();
    try {
      config = count.isEmpty() ? config : config.withDeviceCount(Integer.parseInt(count));
    } catch (IllegalArgumentException e) {
      throw new ServerException("GRAFT_SOFTWARE_DEVICES=" + count + ": " + e.getMessage(), e);
    }
    device = WarmDevice.open(SoftwareDevice.create(config), true, makesContext);
    return device.description();
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
