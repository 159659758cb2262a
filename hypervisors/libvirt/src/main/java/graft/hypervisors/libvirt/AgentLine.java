package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.AgentException;

/** Carries one question to a guest's agent, and the answer back, which is the guest's own text. */
@FunctionalInterface
public interface AgentLine {
  /**
   * Asks and waits for the answer.
   *
   * @param action for messages, as in {@code read '/etc/hostname' in}
   * @param question in JSON
   * @param seconds the time limit
   * @throws AgentException when the agent does not answer in time, or refuses
   */
  String ask(String action, String question, int seconds);
}
