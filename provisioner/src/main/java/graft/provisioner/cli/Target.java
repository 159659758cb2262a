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
    try {
      StateFolder state = StateFolder.of(new Name(given));
      if (state.exists()) {
        return state;
      }
    } catch (IllegalArgumentException e) {
      // not a name either
    }
    throw new GraftException(
        "there is neither a file nor a set-up '" + given + "'", "set-ups: " + names());
  }

  private static String names() {
    String names =
        String.join(", ", StateFolder.all().stream().map(s -> s.setup().text()).toList());
    return names.isEmpty() ? "none" : names;
  }

  /** What its journal says. */
  static JournalState journal(StateFolder state) {
    return Journal.read(state.journal(), Steps.CODEC);
  }
}
