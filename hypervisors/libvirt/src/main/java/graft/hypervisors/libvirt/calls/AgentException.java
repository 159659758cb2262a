package graft.hypervisors.libvirt.calls;

/** The guest agent does not reply, or refuses the request. */
public final class AgentException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  private final boolean unresponsive;

  public AgentException(Failure failure, boolean unresponsive) {
    super(failure, null);
    this.unresponsive = unresponsive;
  }

  public AgentException(
      String attempted, String target, String reason, String advice, boolean unresponsive) {
    super(attempted, target, reason, advice);
    this.unresponsive = unresponsive;
  }

  /** True if no agent replied (perhaps not yet), false if an agent replied with a refusal. */
  public boolean unresponsive() {
    return unresponsive;
  }
}
