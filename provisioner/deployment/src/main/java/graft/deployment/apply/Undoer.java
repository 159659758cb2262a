package graft.deployment.apply;

import graft.deployment.journal.Journal;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.guest.StartGuest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Undoes steps, but never a step on which another one that stays depends. Where a step cannot be
 * undone, the phases before it stay, and so do the steps before it in its chain, unless the step
 * can be left.
 */
public final class Undoer {
  private static final Logger LOG = LoggerFactory.getLogger(Undoer.class);

  private final Journal journal;
  private final StepContext context;
  private final ApplyListener listener;

  public Undoer(Journal journal, StepContext context, ApplyListener listener) {
    this.journal = journal;
    this.context = context;
    this.listener = listener;
  }

  /**
   * Undoes steps: the phases in reverse order, the chains of a phase in parallel.
   *
   * @param steps in the order in which they are to go, those of a chain last first
   * @return the errors; steps that were not undone stay in the journal
   */
  public List<String> undo(List<Step> steps) throws InterruptedException {
    List<String> errors = Collections.synchronizedList(new ArrayList<>());
    Chain.Phase[] phases = Chain.Phase.values();
    for (int i = phases.length - 1; i >= 0; i--) {
      Map<Chain, List<Step>> chains = new LinkedHashMap<>();
      for (Step step : steps) {
        if (step.chain().phase() == phases[i]) {
          chains.computeIfAbsent(step.chain(), chain -> new ArrayList<>()).add(step);
        }
      }
      List<Callable<Boolean>> work = new ArrayList<>();
      chains.values().forEach(chain -> work.add(() -> undoChain(chain, errors)));
      if (!Chains.run(work)) {
        break;
      }
    }
    return List.copyOf(errors);
  }

  /** Whether nothing of the chain is left. */
  private boolean undoChain(List<Step> chain, List<String> errors) {
    boolean well = true;
    for (Step step : stoppedFirst(chain)) {
      boolean undone = undoStep(step, errors);
      well &= undone;
      if (!undone && !step.canBeLeft()) {
        break;
      }
    }
    return well;
  }

  /**
   * A guest that is stopped anyway is stopped before it loses the devices and disks that it got
   * while it ran: its system then need not release them.
   */
  private static List<Step> stoppedFirst(List<Step> chain) {
    int start = 0;
    while (start < chain.size() && !(chain.get(start) instanceof StartGuest)) {
      start++;
    }
    if (start == chain.size()) {
      return chain;
    }
    List<Step> ordered = new ArrayList<>();
    List<Step> plugged = new ArrayList<>();
    for (Step step : chain.subList(0, start)) {
      (step.isBeforeStart() ? plugged : ordered).add(step);
    }
    ordered.add(chain.get(start));
    ordered.addAll(plugged);
    ordered.addAll(chain.subList(start + 1, chain.size()));
    return ordered;
  }

  private boolean undoStep(Step step, List<String> errors) {
    journal.undoing(step);
    if (step.leavesSomething()) {
      listener.undoing(step);
    }
    try {
      step.undo(context, context.beforeOf(step.id()));
      journal.undone(step);
      listener.undone(step);
      return true;
    } catch (Exception e) {
      String error = step.chain() + ": cannot undo '" + step.name() + "': " + Errors.said(e);
      LOG.info("{} not undone", step.id(), e);
      errors.add(error);
      listener.undoFailed(step, error);
      return false;
    }
  }
}
