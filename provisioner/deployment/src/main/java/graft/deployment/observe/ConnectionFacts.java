package graft.deployment.observe;

/**
 * What answers in a guest that runs.
 *
 * @param agent its QEMU guest agent
 * @param ssh something at its SSH port; nobody asks where the descriptor gives no login
 */
public record ConnectionFacts(boolean agent, boolean ssh) {}
