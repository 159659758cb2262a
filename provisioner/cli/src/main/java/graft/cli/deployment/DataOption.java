package graft.cli.deployment;

import graft.cli.terminal.Output;
import graft.cli.terminal.Question;
import graft.deployment.Consent;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Option;

/** The option that lets a command delete data; a person at a terminal is asked instead. */
public final class DataOption {
  private static final String ANSWER = "delete";

  @Option(
      names = "--delete-data",
      description =
          "Delete data of guests' disks where that is part of the change. Without this option a"
              + " person at a terminal is asked, and a script gets an error before anything is"
              + " changed.")
  boolean delete;

  /** Consents if the option was given, else asks a person at a terminal. */
  public Consent consent(Output output) {
    return data -> delete || asked(output, data);
  }

  private static boolean asked(Output output, List<String> data) {
    if (output.isJson() || !Question.canBeAsked()) {
      return false;
    }
    output.say("This deletes data:");
    data.forEach(one -> output.say("  " + one));
    try {
      return Question.ask(output, "Type '" + ANSWER + "' to go on: ").equals(ANSWER);
    } catch (IOException e) {
      return false;
    }
  }
}
