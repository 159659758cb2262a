package graft.cli.terminal;

import graft.deployment.DeploymentProgress;
import graft.deployment.step.Step;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;

/** Prints the progress of a plan to standard error, one line per event. */
public class TextProgress implements DeploymentProgress {
  private static final Duration WORTH_SAYING = Duration.ofSeconds(1);

  private final PrintWriter err;

  public TextProgress(PrintWriter err) {
    this.err = err;
  }

  @Override
  public void beginning(Step step) {
    say(step, step.describe());
  }

  @Override
  public void progress(Step step, String text) {
    say(step, "  " + text);
  }

  @Override
  public void done(Step step, Duration took) {
    if (took.compareTo(WORTH_SAYING) > 0) {
      String seconds = String.format(Locale.ROOT, "%.1f", took.toMillis() / 1000.0);
      say(step, "  " + step.name() + " took " + seconds + " s");
    }
  }

  @Override
  public void failed(Step step, String error) {
    say(step, "  " + step.name() + " FAILED");
  }

  @Override
  public void undoing(Step step) {
    say(step, "undo: " + step.describe());
  }

  @Override
  public void undoFailed(Step step, String error) {
    say(step, "  undo of " + step.name() + " FAILED");
  }

  @Override
  public void warning(String text) {
    err.println("warning: " + text);
    err.flush();
  }

  @Override
  public <T> T interruptible(String message, Callable<T> work) throws Exception {
    return Interruption.told(err, message, work);
  }

  private synchronized void say(Step step, String text) {
    err.println(step.chain() + ": " + text);
    err.flush();
  }
}
