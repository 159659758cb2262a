package graft.deployment.observe;

import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.state.SubordinateIds;
import graft.guests.container.RootSource;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Examines what containers would be made from. */
final class ContainerObserver {
  private ContainerObserver() {}

  static ContainerFacts observe(DescriptorFile file) {
    Map<Path, RootSource> roots = new LinkedHashMap<>();
    file.descriptor().guests().stream()
        .flatMap(guest -> guest.root().stream())
        .map(file::resolveRoot)
        .distinct()
        .forEach(path -> RootSource.look(path).ifPresent(found -> roots.put(path, found)));
    SubordinateIds ids = SubordinateIds.ofHost();
    return roots.isEmpty()
        ? ContainerFacts.NONE
        : new ContainerFacts(roots, ids.taken(), ids.inBoth());
  }
}
