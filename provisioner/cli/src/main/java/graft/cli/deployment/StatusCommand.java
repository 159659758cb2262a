package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.bind.Problem;
import graft.deployment.DeploymentStatus;
import graft.deployment.Deployments;
import graft.deployment.Workspace;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.plan.Plan;
import graft.deployment.plan.UnfitHostException;
import graft.deployment.state.StateFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * {@code graft status}: shows the state of a deployment, and how it differs from its descriptor.
 */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    header = "Shows the state of a deployment, and how it differs from its descriptor.",
    description = {
      "",
      "Shows the servers and guests of a deployment, and what graft apply would do now. Without an"
          + " argument, lists all deployments. Ends with 0 if nothing differs, 7 if something does.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft status", "  graft status lab.yaml", "  graft status --output json lab"})
public final class StatusCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(
      arity = "0..1",
      paramLabel = "DESCRIPTOR|NAME",
      description = "The descriptor, or the name of a deployment that was applied.")
  String given;

  @Override
  public Integer call() throws Exception {
    if (given == null) {
      return list();
    }
    StateFolder state = Deployments.find(given);
    JournalState journal = Deployments.journal(state);
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("setup", state.deployment().text());
    tree.put("descriptor", journal.descriptor());
    tree.put("uri", journal.uri());
    tree.put("partial", journal.isPartial());
    output.say(
        journal.isEmpty()
            ? state.deployment() + ": not applied"
            : state.deployment()
                + ": applied from "
                + journal.descriptor()
                + " on "
                + journal.uri());
    try (Connections connections = new Connections()) {
      DeploymentStatus status = new DeploymentStatus(journal, connections);
      tree.put("servers", status.servers());
      tree.put("guests", status.guests());
      String text = StatusText.of(status);
      if (!text.isEmpty()) {
        output.say(text.stripTrailing());
      }
    }
    boolean same = differences(state, journal, tree);
    tree.put("inSync", same);
    output.result(tree);
    return same ? ExitCode.OK : ExitCode.DIFFERS;
  }

  private int list() {
    List<Object> all = new ArrayList<>();
    for (StateFolder state : StateFolder.all()) {
      JournalState journal = Deployments.journal(state);
      String word = journal.isPartial() ? "half done" : journal.isEmpty() ? "empty" : "applied";
      output.say(state.deployment() + ": " + word + ", from " + journal.descriptor());
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("setup", state.deployment().text());
      one.put("state", word);
      one.put("descriptor", journal.descriptor());
      all.add(one);
    }
    if (all.isEmpty()) {
      output.say("no deployment has been applied");
    }
    output.result(Map.of("setups", all));
    return ExitCode.OK;
  }

  /**
   * Compares the state with the given descriptor or, without one, with the descriptor that was
   * applied.
   */
  private boolean differences(StateFolder state, JournalState journal, Map<String, Object> tree)
      throws Exception {
    Path file = Path.of(Files.exists(Path.of(given)) ? given : journal.descriptor());
    List<Object> differences = new ArrayList<>();
    List<ChannelChoice> channels = DeploymentStatus.channels(state, journal);
    String heading = "differs from " + file + "; graft apply would:";
    if (!Files.exists(file)) {
      heading = "the comparison is not possible:";
      differences.add("the descriptor " + file + " is gone");
    } else {
      try (Workspace workspace = new Workspace(file)) {
        Plan plan = workspace.plan(journal, workspace.observe(journal));
        channels = plan.channels();
        plan.actions().forEach(action -> differences.add(action.step().chain() + ": " + action));
      } catch (UnfitHostException e) {
        e.problems().stream().map(Problem::toString).forEach(differences::add);
      }
    }
    channels.stream()
        .filter(choice -> choice.measured().isPresent())
        .forEach(choice -> output.say("  " + choice));
    tree.put("channels", channels.stream().map(ChannelChoice::toTree).toList());
    if (!differences.isEmpty()) {
      output.say(heading);
      differences.forEach(difference -> output.say("  " + difference));
    }
    tree.put("differences", differences);
    return differences.isEmpty();
  }
}
