package graft.hypervisors.libvirt.calls;

/** No connection to a libvirt daemon could be had, or the one there was is gone. */
public final class HostUnreachableException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  public HostUnreachableException(Failure failure, Throwable cause) {
    super(failure, cause);
  }
}
