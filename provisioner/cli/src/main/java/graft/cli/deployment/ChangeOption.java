package graft.cli.deployment;

import graft.cli.terminal.Output;
import graft.cli.terminal.Question;
import graft.deployment.Consent;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that change hosts: a person at a terminal is asked before. */
public final class ChangeOption {
  @Option(
      names = {"-y", "--yes"},
      description =
          "Change the host without asking a person at a terminal. Data of guests' disks needs"
              + " --delete-data as well. A script is not asked.")
  boolean yes;

  @Mixin DataOption data;

  boolean deletesData() {
    return data.delete;
  }

  /** Consents if the options were given or nobody can be asked, else asks. */
  Consent consent(Output output) {
    Consent ofData = data.consent(output);
    return new Consent() {
      @Override
      public boolean mayDelete(List<String> all) {
        return ofData.mayDelete(all);
      }

      @Override
      public boolean mayChange(Change change) throws Exception {
        if (yes || output.isJson() || !Question.canBeAsked()) {
          return true;
        }
        String text = change.text().stripTrailing();
        if (text.isEmpty()) {
          return true;
        }
        output.sayPlan(text);
        String answer = Question.ask(output, "Do this? [y/N] ").toLowerCase(Locale.ROOT);
        return answer.equals("y") || answer.equals("yes");
      }
    };
  }
}
