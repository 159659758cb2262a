package graft.deployment.observe;

import graft.guests.container.RootSource;
import graft.hypervisors.libvirt.domain.Boot;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What containers need of the host.
 *
 * @param roots what the descriptor's root folders would be made from, if it exists
 * @param taken the users and groups of the host that belong to somebody, as /etc/subuid and
 *     /etc/subgid list them
 * @param registered the lines that both files have
 */
public record ContainerFacts(
    Map<Path, RootSource> roots, List<Boot.IdRange> taken, Set<String> registered) {
  /** Of a descriptor without containers. */
  public static final ContainerFacts NONE = new ContainerFacts(Map.of(), List.of(), Set.of());
}
