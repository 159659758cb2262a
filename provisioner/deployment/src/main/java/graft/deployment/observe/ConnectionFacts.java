package graft.deployment.observe;

/**
 * Which guest connections of a running guest answer.
 *
 * @param agent whether its QEMU guest agent answers
 * @param ssh whether something listens at its SSH port; false where the descriptor gives no login
 */
public record ConnectionFacts(boolean agent, boolean ssh) {}
