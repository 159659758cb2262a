package graft.hypervisors.libvirt.calls;

/** The guest agent does not reply, refuses the request, or what it ran did not end in time. */
public final class AgentException extends HypervisorException {

  private static final long serialVersionUID = 1L;

  private final boolean unresponsive;
  private final boolean late;

  public AgentException(Failure failure, boolean unresponsive) {
    super(failure, null);
    this.unresponsive = unresponsive;
    this.late = false;
  }

  public AgentException(
      String attempted, String target, String reason, String advice, boolean unresponsive) {
    super(attempted, target, reason, advice);
    this.unresponsive = unresponsive;
    this.late = false;
  }

  private AgentException(String attempted, String target, String reason, String advice) {
    super(attempted, target, reason, advice);
    this.unresponsive = false;
    this.late = true;
  }

  /** A program that the agent ran did not end in time. */
  public static AgentException late(String attempted, String target, String reason, String advice) {
    return new AgentException(attempted, target, reason, advice);
  }

  /** Whether a program that the agent ran did not end in time; in a busy guest it may later. */
  public boolean late() {
    return late;
  }

  /** True if no agent replied (perhaps not yet), false if an agent replied with a refusal. */
  public boolean unresponsive() {
    return unresponsive;
  }
}
