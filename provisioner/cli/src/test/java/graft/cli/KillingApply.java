package graft.cli;

import graft.cli.terminal.Logging;
import graft.deployment.Workspace;
import graft.deployment.apply.Applier;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Plan;
import graft.deployment.state.DeploymentLock;
import graft.deployment.step.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * {@code KillingApply MOMENT DESCRIPTOR}: applies, and kills its own process by SIGKILL at a
 * moment. Moments are right after a step's record is written and right after it is done. They are
 * counted from 1; the name of a step means the one after its record.
 */
final class KillingApply {
  /**
   * Tests kill at every fourth moment, from one of the first four on by chance; {@code
   * -Dgraft.kill.every=1} makes them kill at all.
   */
  static final int EVERY = Integer.getInteger("graft.kill.every", 4);

  private KillingApply() {}

  public static void main(String[] args) throws Exception {
    Logging.quiet();
    String moment = args[0];
    AtomicInteger passed = new AtomicInteger();
    ApplyListener killer =
        new ApplyListener() {
          @Override
          public void beginning(Step step) {
            pass(step.name());
          }

          @Override
          public void done(Step step, Duration took) {
            pass("");
          }

          private void pass(String name) {
            String count = String.valueOf(passed.incrementAndGet());
            if (count.equals(moment) || name.equals(moment)) {
              kill();
            }
          }
        };
    try (Workspace workspace = new Workspace(Path.of(args[1]))) {
      DeploymentLock.holding(
          workspace.state(),
          () -> {
            apply(workspace, killer);
            return null;
          });
    }
    System.out.println(passed.get());
  }

  private static void apply(Workspace workspace, ApplyListener listener)
      throws InterruptedException {
    try (Journal journal =
        Journal.open(workspace.state().journal(), Steps.CODEC, Clock.systemUTC())) {
      JournalState before = journal.state();
      Plan plan = workspace.plan(before, workspace.observe(before));
      LiveContext context = new LiveContext(workspace.connections(), journal, listener);
      new Applier(journal, context, listener)
          .apply(plan, workspace.file().path().toAbsolutePath().toString(), false);
    }
  }

  private static void kill() {
    try {
      String self = String.valueOf(ProcessHandle.current().pid());
      // The shell's own kill: the program is in a package that a small host may lack.
      new ProcessBuilder("sh", "-c", "kill -KILL " + self).start().waitFor();
      Thread.sleep(Long.MAX_VALUE); // the signal is on its way
    } catch (IOException | InterruptedException e) {
      Runtime.getRuntime().halt(1);
    }
  }
}
