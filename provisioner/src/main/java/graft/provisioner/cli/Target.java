package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.apply.Steps;
import graft.provisioner.descriptor.DescriptorReader;
import graft.provisioner.descriptor.InvalidDescriptorException;
import graft.provisioner.journal.Journal;
import graft.provisioner.journal.JournalState;
import graft.provisioner.state.StateFolder;
import graft.provisioner.values.Name;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Parameters;

/** The set-up that a command is about: a descriptor's file, or the name of one that was applied. */
final class Target {
  @Parameters(
      index = "0",
      paramLabel = "DESCRIPTOR|NAME",
      description = "The descriptor, or the name of a set-up that was applied.")
  String given;

  /** The state of the set-up. */
  StateFolder state() throws InvalidDescriptorException {
    Path file = Path.of(given);
    if (Files.exists(file)) {
      return StateFolder.of(DescriptorReader.read(file).descriptor().setupName());
    }
    return named()
        .orElseThrow(
            () ->
                new GraftException(
                    "there is neither a file nor a set-up '" + given + "'",
                    "set-ups: " + names(StateFolder.all())));
  }

  private Optional<StateFolder> named() {
    try {
      return Optional.of(StateFolder.of(new Name(given))).filter(StateFolder::exists);
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // no name
    }
  }

  /**
   * The set-up that has a guest of the name that was given, for commands that take a guest alone;
   * empty if a descriptor or a set-up was given.
   */
  Optional<StateFolder> stateOfGuest() {
    if (Files.exists(Path.of(given)) || named().isPresent()) {
      return Optional.empty();
    }
    List<StateFolder> having =
        StateFolder.all().stream()
            .filter(state -> GuestReach.names(journal(state)).contains(given))
            .toList();
    if (having.size() > 1) {
      throw new GraftException(
          "several set-ups have a guest '" + given + "': " + names(having),
          "name the set-up before the guest");
    }
    return having.stream().findFirst();
  }

  private static String names(List<StateFolder> states) {
    String names = String.join(", ", states.stream().map(s -> s.setup().text()).toList());
    return names.isEmpty() ? "none" : names;
  }

  /** What its journal says. */
  static JournalState journal(StateFolder state) {
    return Journal.read(state.journal(), Steps.CODEC);
  }
}
