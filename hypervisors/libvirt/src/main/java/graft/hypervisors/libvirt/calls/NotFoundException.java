package graft.hypervisors.libvirt.calls;

/** The guest, network, pool, volume or device does not exist on the host. */
public final class NotFoundException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  public NotFoundException(Failure failure) {
    super(failure, null);
  }
}
