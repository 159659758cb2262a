package graft.hypervisors.libvirt;

/** The guest agent does not answer, or refuses what it was asked. */
public final class AgentException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  private final boolean unresponsive;

  AgentException(Failure failure, boolean unresponsive) {
    super(failure, null);
    this.unresponsive = unresponsive;
  }

  AgentException(
      String attempted, String target, String reason, String advice, boolean unresponsive) {
    super(attempted, target, reason, advice);
    this.unresponsive = unresponsive;
  }

  /** True when no agent answered (perhaps not yet), false when one answered with a refusal. */
  public boolean unresponsive() {
    return unresponsive;
  }
}
