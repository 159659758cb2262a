package graft.deployment.placement;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A GPU that may be chosen.
 *
 * @param name in the descriptor
 * @param device what it is: two candidates of one device are the same GPU
 * @param node the node that it belongs to; empty for this host
 * @param obstacle why it is never chosen; empty if it can be
 * @param chip its name; empty if nobody has said it
 * @param memory in bytes; empty if it is not known
 * @param numa the NUMA node of this host that it is near
 */
public record Candidate(
    String name,
    String device,
    Optional<String> node,
    Optional<String> obstacle,
    Optional<String> chip,
    OptionalLong memory,
    OptionalInt numa) {}
