package graft.deployment.observe;

import graft.guests.machine.MachineReport;
import java.util.Optional;

/**
 * A machine that exists already, as SSH or its guest agent finds it.
 *
 * @param report what it says about itself; empty if it was not reached
 * @param error why it was not reached; empty if it was
 * @param next what to do about the error
 * @param listen the address of this host at which the machine reaches it; empty if this host does
 *     not know it
 * @param owner the owner that the machine's record has if this deployment installed the client
 * @param current whether its client is the one of this host
 * @param domain the libvirt domain; empty for a machine that SSH reaches, or if there is none
 */
public record MachineFacts(
    Optional<MachineReport> report,
    String error,
    String next,
    String listen,
    String owner,
    boolean current,
    Optional<DomainFacts> domain) {

  /** Whether the machine was reached. */
  public boolean answers() {
    return report.isPresent();
  }
}
