package graft.cli.measuring;

import graft.cli.terminal.TextProgress;
import graft.deployment.step.Step;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The progress of guests that each block of a comparison sets up and removes again: a step or a
 * warning is printed the first time, a failure every time.
 */
final class FirstTimeProgress extends TextProgress {
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  FirstTimeProgress(PrintWriter err) {
    super(err);
  }

  private boolean isFirst(String event, Step step, String text) {
    return said.add(event + "\n" + step.id() + "\n" + text);
  }

  @Override
  public void beginning(Step step) {
    if (isFirst("beginning", step, step.describe())) {
      super.beginning(step);
    }
  }

  @Override
  public void progress(Step step, String text) {
    if (isFirst("progress", step, text)) {
      super.progress(step, text);
    }
  }

  @Override
  public void done(Step step, Duration took) {
    if (isFirst("done", step, "")) {
      super.done(step, took);
    }
  }

  @Override
  public void undoing(Step step) {
    if (isFirst("undoing", step, step.describe())) {
      super.undoing(step);
    }
  }

  @Override
  public void warning(String text) {
    if (said.add("warning\n" + text)) {
      super.warning(text);
    }
  }
}
