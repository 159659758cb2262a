package graft.deployment;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.deployment.apply.Applier;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.apply.Undoer;
import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.plan.Plan;
import graft.deployment.programs.RunningPrograms;
import graft.deployment.programs.ServerQuestion;
import graft.deployment.state.DeploymentLock;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.sriov.vf.HostAccess;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Undoes steps of a deployment, and deletes its folder when nothing is left. */
public final class UndoRun {
  private final StateFolder state;
  private final String command;
  private final DeploymentProgress progress;
  private final HostAccess host;
  private Optional<ServerQuestion> question = Optional.empty();

  /**
   * @param command for the journal, and for the message after an interruption
   */
  public UndoRun(StateFolder state, String command, DeploymentProgress progress) {
    this(state, command, progress, HostAccess.thisHost());
  }

  /** Tells whoever is asked for consent which programs would lose their sessions. */
  public UndoRun asking(ServerQuestion servers) {
    question = Optional.of(servers);
    return this;
  }

  /** For a host that is not this one. */
  public UndoRun(StateFolder state, String command, DeploymentProgress progress, HostAccess host) {
    this.state = state;
    this.command = command;
    this.progress = progress;
    this.host = host;
  }

  /**
   * What was done.
   *
   * @param steps how many steps were to be undone
   * @param restored how many steps of earlier runs were to be done again
   * @param errors of those that could not be undone, or done again
   */
  public record Result(int steps, int restored, List<String> errors) {
    public boolean isWhole() {
      return errors.isEmpty();
    }
  }

  /**
   * Undoes the chosen steps.
   *
   * @throws DataKeptException before anything is undone, if data would be deleted without consent
   */
  public Result run(Function<JournalState, List<Step>> choice, Consent consent) throws Exception {
    return run(choice, consent, false);
  }

  /**
   * Undoes the last apply, and does again what that apply had undone or replaced.
   *
   * @throws DataKeptException before anything is undone, if data would be deleted without consent
   */
  public Result last(Consent consent) throws Exception {
    return run(JournalState::lastRunNewestFirst, consent, true);
  }

  private Result run(Function<JournalState, List<Step>> choice, Consent consent, boolean restore)
      throws Exception {
    if (!state.exists()) {
      return new Result(0, 0, List.of());
    }
    return DeploymentLock.holding(state, () -> locked(choice, consent, restore));
  }

  private Result locked(Function<JournalState, List<Step>> choice, Consent consent, boolean restore)
      throws Exception {
    try (Connections connections = new Connections();
        Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      List<Step> steps = choice.apply(journal.state());
      JournalState before = journal.state();
      consent.requireChange(command, () -> text(steps, restore, programs(before, steps)));
      consent.require(command, Step.data(steps));
      journal.note(command);
      LiveContext context = new LiveContext(connections, host, journal, progress);
      Result result =
          progress.interruptible(
              "interrupted: graft " + command + " " + state.deployment() + " continues",
              () -> {
                List<String> errors = new Undoer(journal, context, progress).undo(steps);
                return restore && errors.isEmpty()
                    ? restore(steps.size(), journal, context)
                    : new Result(steps.size(), 0, errors);
              });
      if (journal.state().isEmpty()) {
        PrivateFiles.deleteFolder(state.path());
      }
      return result;
    }
  }

  private Map<Chain, Plan.Programs> programs(JournalState journal, List<Step> steps) {
    return question
        .map(ask -> new RunningPrograms(journal, ask).ended(steps, Set.of()))
        .orElse(Map.of());
  }

  /** The steps in lines of a plan's form. */
  private static String text(
      List<Step> steps, boolean restore, Map<Chain, Plan.Programs> programs) {
    StringBuilder text = new StringBuilder();
    Chain last = null;
    for (Step step : steps) {
      if (!step.chain().equals(last)) {
        last = step.chain();
        Plan.Programs ended = programs.get(last);
        text.append("  ").append(last);
        text.append(ended == null ? "" : ": " + ended.words()).append('\n');
      }
      text.append("    - undo: ").append(step.describe()).append('\n');
    }
    if (restore && !steps.isEmpty()) {
      text.append("what that apply had removed or replaced is done again\n");
    }
    Step.data(steps).forEach(data -> text.append("deletes data: ").append(data).append('\n'));
    return text.toString();
  }

  private Result restore(int undone, Journal journal, LiveContext context)
      throws InterruptedException {
    List<Entry> replaced = journal.state().replaced();
    for (String data : Step.data(replaced.stream().map(Entry::step).toList())) {
      progress.warning("made anew, since its data was deleted: " + data);
    }
    List<String> errors = new Applier(journal, context, progress).restore(replaced);
    return new Result(undone, replaced.size(), errors);
  }

  /**
   * Undoes every step of a deployment that the calling command has made, and deletes its data.
   *
   * @throws GraftException if one could not be undone
   */
  public static void destroy(StateFolder state, DeploymentProgress progress) throws Exception {
    Result result =
        new UndoRun(state, "destroy", progress).run(JournalState::newestFirst, Consent.OWN);
    if (!result.isWhole()) {
      throw new GraftException(
          "the deployment '"
              + state.deployment()
              + "' could not be removed: "
              + String.join("; ", result.errors()),
          "graft destroy " + state.deployment());
    }
  }
}
