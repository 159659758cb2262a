package graft.cli.measuring;

import graft.cli.terminal.Output;
import graft.comparison.run.Entry;
import graft.comparison.run.Progress;
import graft.comparison.run.Result;
import graft.comparison.run.Visit;
import java.util.Locale;

/** Prints the progress of a comparison to standard error. */
final class CompareProgress implements Progress {
  private final Output output;

  CompareProgress(Output output) {
    this.output = output;
  }

  @Override
  public void visit(int number, int of, Visit visit) {
    say("[" + number + "/" + of + "] block " + visit.block() + ", " + visit.setting().name());
  }

  @Override
  public void ran(Entry.Run run) {
    String end = run.result() == Result.OK ? "" : "  " + run.result() + ": " + run.why();
    say(String.format(Locale.ROOT, "    %-40s %6.1f s%s", run.key(), run.seconds(), end));
  }

  @Override
  public void note(String text) {
    say("    " + text);
  }

  private void say(String text) {
    output.err().println(text);
    output.err().flush();
  }
}
