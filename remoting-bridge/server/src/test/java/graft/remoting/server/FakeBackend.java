package graft.remoting.server;

import graft.remoting.server.backend.Backend;
import graft.remoting.server.backend.WarmDevice;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import java.util.function.BooleanSupplier;

/** Sessions on a {@link FakeCuda}. */
public final class FakeBackend implements Backend {
  private WarmDevice device;

  @Override
  public String kind() {
    return "fake";
  }

  @Override
  public String open(boolean makesContext) throws ServerException {
    device = WarmDevice.open(new FakeCuda(), true, makesContext);
    return device.description();
  }

  @Override
  public void warmUp(int spinMicros, BooleanSupplier goOn) {
    device.warmUp(spinMicros, goOn);
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return device.session(channel, terms);
  }
}
