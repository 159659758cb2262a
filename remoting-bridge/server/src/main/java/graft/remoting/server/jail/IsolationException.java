package graft.remoting.server.jail;

import graft.remoting.server.system.ServerException;

/** Thrown when this host cannot confine workers as required. */
public final class IsolationException extends ServerException {
  private static final long serialVersionUID = 1;

  public IsolationException(Isolation isolation) {
    super(
        "this machine cannot confine workers as is required; missing: "
            + isolation.describeMissing()
            + "; see docs/security.md, or leave out --require-isolation");
  }
}
