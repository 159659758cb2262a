package graft.cli;

import graft.remoting.server.backend.Backend;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;

/**
 * Stands in for the GPU in tests of provisioning, which need a server that starts and stops but run
 * no CUDA. What runs on a GPU is tested where GPUs are made.
 */
public final class IdleBackend implements Backend {
  @Override
  public String kind() {
    return "software";
  }

  @Override
  public String open(boolean makesContext) {
    return "no device";
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) throws ServerException {
    throw new ServerException("this device is for tests without sessions");
  }
}
