package graft.remoting.server;

import graft.remoting.server.backend.Backend;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;

/** A device that does not open. */
public final class BrokenBackend implements Backend {
  @Override
  public String kind() {
    return "broken";
  }

  @Override
  public String open(boolean makesContext) throws ServerException {
    throw new ServerException("the broken device does not open: repair it");
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    throw new IllegalStateException("never opened");
  }
}
