package graft.deployment;

import graft.common.bind.Problem;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.plan.Plan;
import graft.deployment.plan.UnfitHostException;
import graft.deployment.state.StateFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How this host differs from a descriptor of a deployment.
 *
 * @param descriptor the file
 * @param obstacles why the two cannot be compared, each a sentence; empty if they can
 * @param differences what {@code graft apply} would change, each on a line
 * @param channels the order of each guest's channels
 */
public record Drift(
    Path descriptor,
    List<String> obstacles,
    List<String> differences,
    List<ChannelChoice> channels) {

  /**
   * Compares this host, as it is now, with a descriptor.
   *
   * @throws InvalidDescriptorException if the descriptor is wrong
   */
  public static Drift of(
      StateFolder state, JournalState journal, Path descriptor, Connections connections)
      throws InvalidDescriptorException {
    if (!isThere(descriptor)) {
      return new Drift(
          descriptor,
          List.of(
              descriptor.toString().isEmpty()
                  ? "no descriptor is recorded"
                  : "the descriptor " + descriptor + " is gone"),
          List.of(),
          DeploymentStatus.channels(state, journal));
    }
    // The caller closes the connections.
    Workspace workspace = new Workspace(DescriptorReader.read(descriptor), connections);
    try {
      Plan plan = workspace.plan(journal, workspace.observe(journal));
      return new Drift(
          descriptor,
          List.of(),
          plan.actions().stream().map(a -> a.step().chain() + ": " + a).toList(),
          plan.channels());
    } catch (UnfitHostException e) {
      return new Drift(
          descriptor,
          e.problems().stream().map(Problem::toString).toList(),
          List.of(),
          DeploymentStatus.channels(state, journal));
    }
  }

  /** Whether there is a file; the empty path, where none is recorded, is that of a folder. */
  public static boolean isThere(Path descriptor) {
    return Files.exists(descriptor) && !Files.isDirectory(descriptor);
  }

  /** Whether the host was compared and does not differ. */
  public boolean isNone() {
    return obstacles.isEmpty() && differences.isEmpty();
  }
}
