package graft.remoting.server;

/** A device that does not open. */
public final class BrokenBackend implements Backend {
  @Override
  public String kind() {
    return "broken";
  }

  @Override
  public String open() throws ServerException {
    throw new ServerException("the broken device does not open: repair it");
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    throw new IllegalStateException("never opened");
  }
}
