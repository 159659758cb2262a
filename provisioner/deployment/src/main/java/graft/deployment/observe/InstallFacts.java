package graft.deployment.observe;

import graft.common.values.Name;
import graft.guests.bundle.FoundBundle;
import graft.guests.bundle.TreeFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What bringing things into guests needs of this host, the bundles above all.
 *
 * @param client where the client's libraries are
 * @param home Graft's own folder
 * @param found those that are right
 * @param wrong what is wrong with the others
 * @param trees the files of every source that exists
 * @param programs of those that ways in need, the ones that this host has
 * @param connection what answers in the guests that run and whose way in is ours to choose
 */
public record InstallFacts(
    Path client,
    Path home,
    Map<Name, FoundBundle> found,
    Map<Name, String> wrong,
    Map<Path, List<TreeFile>> trees,
    Set<String> programs,
    Map<Name, ConnectionFacts> connection) {

  /** Graft's Ansible playbooks. */
  public Path playbooks() {
    return home.resolve("playbooks");
  }

  /** What answers in a guest; empty if it does not run. */
  public Optional<ConnectionFacts> connection(Name guest) {
    return Optional.ofNullable(connection.get(guest));
  }

  /** The files of a source; none if there is no such file or folder. */
  public List<TreeFile> tree(Path source) {
    return trees.getOrDefault(source, List.of());
  }

  /** Of a host where no guest gets anything. */
  public static final InstallFacts NONE =
      new InstallFacts(
          Path.of("/"), Path.of("/"), Map.of(), Map.of(), Map.of(), Set.of(), Map.of());
}
