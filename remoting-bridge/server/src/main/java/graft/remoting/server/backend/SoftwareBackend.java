package graft.remoting.server.backend;

import graft.remoting.device.WorkGate;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuLease;
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
  private volatile GpuLease lease = GpuLease.endless();
  private WarmDevice device;

  @Override
  public String kind() {
    return DeviceSpec.SOFTWARE;
  }

  @Override
  public String open() throws ServerException {
    String count = System.getenv().getOrDefault("GRAFT_SOFTWARE_DEVICES", "");
    SoftwareDeviceConfig config = SoftwareDeviceConfig.defaults();
    try {
      config = count.isEmpty() ? config : config.withDeviceCount(Integer.parseInt(count));
    } catch (IllegalArgumentException e) {
      throw new ServerException("GRAFT_SOFTWARE_DEVICES=" + count + ": " + e.getMessage(), e);
    }
    device = WarmDevice.open(SoftwareDevice.create(config.withGate(gate())), true);
    return device.description();
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    lease = terms.lease();
    return device.session(channel, terms);
  }

  /** Returns a gate that is open until the session has begun, and then asks for its lease. */
  private WorkGate gate() {
    return new WorkGate() {
      @Override
      public void begin() {
        lease.begin();
      }

      @Override
      public void end() {
        lease.end();
      }
    };
  }
}
