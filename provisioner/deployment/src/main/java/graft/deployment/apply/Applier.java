package graft.deployment.apply;

import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StoppedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out a plan. The journal records a step before it begins; if one fails, everything that
 * this run did is undone, last first.
 */
public final class Applier {
  private static final Logger LOG = LoggerFactory.getLogger(Applier.class);

  private final Journal journal;
  private final StepContext context;
  private final ApplyListener listener;
  private final Undoer undoer;
  private final List<String> errors = Collections.synchronizedList(new ArrayList<>());

  public Applier(Journal journal, StepContext context, ApplyListener listener) {
    this.journal = journal;
    this.context = context;
    this.listener = listener;
    this.undoer = new Undoer(journal, context, listener);
  }

  /**
   * Carries out a plan.
   *
   * @param descriptor the file, for the journal
   * @param keepOnFailure whether to undo nothing after a failure
   * @throws ApplyFailedException if a step failed; it says whether all was undone
   */
  public void apply(Plan plan, String descriptor, boolean keepOnFailure)
      throws InterruptedException {
    journal.reserve(plan.actions().size());
    long run = journal.apply(descriptor, plan.uri());
    List<Step> back =
        plan.actions().stream()
            .filter(action -> action.kind() == Action.Kind.UNDO)
            .map(Action::step)
            .toList();
    List<String> undoErrors = undoer.undo(back);
    if (!undoErrors.isEmpty()) {
      journal.end(run, "partial");
      throw new ApplyFailedException("the old state could not be undone", undoErrors, true);
    }
    if (doAll(plan, run)) {
      journal.end(run, "applied");
      return;
    }
    if (keepOnFailure) {
      journal.end(run, "partial");
      throw new ApplyFailedException("left as it is, as asked", errors, true);
    }
    context.stop(false);
    List<String> all = new ArrayList<>(errors);
    List<String> notUndone = undoer.undo(stepsOf(run));
    all.addAll(notUndone);
    journal.end(run, notUndone.isEmpty() ? "undone" : "partial");
    String outcome =
        notUndone.isEmpty()
            ? "everything that this run did has been undone"
            : "not everything could be undone";
    throw new ApplyFailedException(outcome, all, !notUndone.isEmpty());
  }

  private List<Step> stepsOf(long run) {
    List<Step> steps = new ArrayList<>();
    for (Entry entry : journal.state().entries().values()) {
      if (entry.run() == run) {
        steps.add(entry.step());
      }
    }
    Collections.reverse(steps);
    return steps;
  }

  /** A step to be done, and the run that it belongs to. */
  private record Todo(Step step, long run) {}

  private boolean doAll(Plan plan, long run) throws InterruptedException {
    Map<Chain, List<Todo>> chains = new LinkedHashMap<>();
    plan.byChain(Action.Kind.DO)
        .forEach(
            (chain, actions) ->
                chains.put(chain, actions.stream().map(a -> new Todo(a.step(), run)).toList()));
    return doAll(chains);
  }

  /**
   * Does steps again that a run has replaced. They belong to the runs that did them first, so that
   * another undo of the last run does not undo them.
   *
   * @param entries in their order
   * @return the errors; after the first one nothing more is begun
   */
  public List<String> restore(List<Entry> entries) throws InterruptedException {
    Map<Chain, List<Todo>> chains = new LinkedHashMap<>();
    for (Entry entry : entries) {
      chains
          .computeIfAbsent(entry.step().chain(), chain -> new ArrayList<>())
          .add(new Todo(entry.step(), entry.run()));
    }
    doAll(chains);
    return List.copyOf(errors);
  }

  private boolean doAll(Map<Chain, List<Todo>> chains) throws InterruptedException {
    for (Chain.Phase phase : Chain.Phase.values()) {
      List<Callable<Boolean>> work = new ArrayList<>();
      chains.forEach(
          (chain, steps) -> {
            if (chain.phase() == phase) {
              work.add(() -> chain(steps));
            }
          });
      if (!Chains.run(work)) {
        return false;
      }
    }
    return true;
  }

  private boolean chain(List<Todo> steps) {
    for (Todo todo : steps) {
      if (context.isStopping() || !step(todo.step(), todo.run())) {
        return false;
      }
    }
    return true;
  }

  private boolean step(Step step, long run) {
    listener.beginning(step);
    long start = System.nanoTime();
    boolean begun = false;
    try {
      journal.begin(run, step, before(step));
      begun = true;
      var result = step.apply(context);
      journal.done(step, result);
      listener.done(step, Duration.ofNanos(System.nanoTime() - start));
      return true;
    } catch (StoppedException e) {
      journal.failed(step, e.getMessage());
      return false;
    } catch (Exception | LinkageError e) {
      context.stop(true);
      String error = Errors.said(e);
      LOG.info("{} failed", step.id(), e);
      if (begun) {
        journal.failed(step, error);
      }
      errors.add(step.chain() + ": " + error);
      listener.failed(step, error);
      return false;
    }
  }

  /**
   * The values from before the step first began. A step that is repeated would otherwise save the
   * result of its own earlier, interrupted run.
   */
  private Map<String, Object> before(Step step) throws Exception {
    Optional<Entry> first = journal.entry(step.id());
    return first.isPresent() ? first.get().before() : step.before(context);
  }
}
