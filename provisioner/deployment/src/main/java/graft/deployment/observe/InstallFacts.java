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
 * What installing in guests needs of this host, above all the bundles.
 *
 * @param client the folder of the client's libraries
 * @param home the folder of this installation of Graft
 * @param found the valid bundles
 * @param wrong the errors of the other bundles
 * @param trees the files of every source that exists
 * @param programs the installed ones of the programs that install methods need
 * @param connection the connections that answer in running guests whose install method is {@code
 *     auto}
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

  /** The connections that answer in a guest; empty if it does not run. */
  public Optional<ConnectionFacts> connection(Name guest) {
    return Optional.ofNullable(connection.get(guest));
  }

  /** The files of a source; none if there is no such file or folder. */
  public List<TreeFile> tree(Path source) {
    return trees.getOrDefault(source, List.of());
  }
}
