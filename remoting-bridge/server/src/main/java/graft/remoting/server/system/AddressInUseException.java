package graft.remoting.server.system;

/** Thrown when another process listens at an address already. */
public final class AddressInUseException extends ServerException {
  private static final long serialVersionUID = 1;

  AddressInUseException(ListenAddress address, Throwable cause) {
    super(
        "cannot listen at "
            + address
            + ": another process listens there; stop it or choose another address",
        cause);
  }
}
