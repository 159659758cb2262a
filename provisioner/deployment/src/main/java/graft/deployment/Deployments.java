package graft.deployment;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.state.StateFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds deployments by what a user calls them: a descriptor's file, a name, or a guest's name. */
public final class Deployments {
  private Deployments() {}

  /**
   * The state of a deployment.
   *
   * @param given a descriptor's file, or the name of a deployment that was applied
   */
  public static StateFolder find(String given) throws InvalidDescriptorException {
    Path file = Path.of(given);
    if (Files.exists(file)) {
      DescriptorFile read = DescriptorReader.read(file);
      refuseHosts(read);
      return StateFolder.of(read.descriptor().deploymentName());
    }
    return named(given)
        .orElseThrow(
            () ->
                new GraftException(
                    "there is neither a file nor a deployment '" + given + "'",
                    "deployments: " + names(StateFolder.all())));
  }

  /** Refuses a descriptor of many hosts for a command that works on this one. */
  static void refuseHosts(DescriptorFile file) {
    Descriptor descriptor = file.descriptor();
    if (!descriptor.hosts().isEmpty()) {
      String name = descriptor.deploymentName().text();
      throw new GraftException(
          "'" + name + "' is a deployment over many hosts, and this command works on one",
          "run it on the host itself, with the deployment's name: ssh "
              + descriptor.hosts().get(0).ssh().target()
              + " graft ... "
              + name);
    }
  }

  private static Optional<StateFolder> named(String given) {
    try {
      return Optional.of(StateFolder.of(new Name(given))).filter(StateFolder::exists);
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // no name
    }
  }

  /**
   * The deployment that has a guest of this name; empty if the text names a descriptor or a
   * deployment.
   */
  public static Optional<StateFolder> ofGuest(String given) {
    if (Files.exists(Path.of(given)) || named(given).isPresent()) {
      return Optional.empty();
    }
    List<StateFolder> having =
        StateFolder.all().stream()
            .filter(state -> AppliedGuest.names(journal(state)).contains(given))
            .toList();
    if (having.size() > 1) {
      throw new GraftException(
          "several deployments have a guest '" + given + "': " + names(having),
          "name the deployment before the guest");
    }
    return having.stream().findFirst();
  }

  private static String names(List<StateFolder> states) {
    String names = String.join(", ", states.stream().map(s -> s.deployment().text()).toList());
    return names.isEmpty() ? "none" : names;
  }

  /** What a deployment's journal says. */
  public static JournalState journal(StateFolder state) {
    return Journal.read(state.journal(), Steps.CODEC);
  }
}
