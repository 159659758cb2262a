package graft.hypervisors.libvirt.calls;

/** A connection to a libvirt daemon could not be opened, or was lost. */
public final class HostUnreachableException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  public HostUnreachableException(Failure failure, Throwable cause) {
    super(failure, cause);
  }
}
