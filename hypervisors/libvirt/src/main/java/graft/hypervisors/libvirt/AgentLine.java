package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.AgentException;

/**
 * Carries one request to a guest's agent, and the reply back. The reply is text that the guest
 * controls.
 */
@FunctionalInterface
public interface AgentLine {
  /**
   * Sends a request and waits for the reply.
   *
   * @param action for messages, as in {@code read '/etc/hostname' in}
   * @param question the request in JSON
   * @param seconds the time limit
   * @throws AgentException if the agent does not reply in time, or refuses
   */
  String ask(String action, String question, int seconds);
}
