package graft.deployment.plan;

import graft.deployment.placement.Choice;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What will be done, in order: first everything that is undone, then everything that is done.
 * Chains of one phase run in parallel.
 *
 * @param deployment the deployment's name
 * @param uri the libvirt connection; empty if none is needed
 * @param warnings what the user should know, each a sentence
 * @param notes choices and their reasons
 * @param channels the order of each guest's channels
 * @param consequences for guests and servers that exist, in words
 * @param choices the GPUs that were chosen for guests, with the reasons
 * @param programs those that lose their sessions, where their servers were asked
 */
public record Plan(
    String deployment,
    String uri,
    List<Action> actions,
    List<String> warnings,
    List<String> notes,
    List<ChannelChoice> channels,
    Map<Chain, String> consequences,
    List<Choice> choices,
    Map<Chain, Programs> programs) {
  /**
   * The programs that use now what a plan takes away.
   *
   * @param sessions how many; null if it is not known
   * @param words the same for people, with the reason if it is not known
   */
  public record Programs(Integer sessions, String words) {}

  /** A part of a plan, without the order of channels. */
  public Plan(
      String deployment,
      String uri,
      List<Action> actions,
      List<String> warnings,
      List<String> notes) {
    this(deployment, uri, actions, warnings, notes, List.of(), Map.of(), List.of(), Map.of());
  }

  /** Copies the lists. */
  public Plan {
    actions = List.copyOf(actions);
    warnings = List.copyOf(warnings);
    notes = List.copyOf(notes);
    channels = List.copyOf(channels);
    consequences = Map.copyOf(consequences);
    choices = List.copyOf(choices);
    programs = Map.copyOf(programs);
  }

  /** With the programs that lose their sessions. */
  public Plan with(Map<Chain, Programs> ended) {
    return new Plan(
        deployment, uri, actions, warnings, notes, channels, consequences, choices, ended);
  }

  /** What it means for an object, in words; empty if there is nothing to say. */
  public String meaning(Chain chain) {
    return Stream.of(
            consequences.getOrDefault(chain, ""),
            Optional.ofNullable(programs.get(chain)).map(Programs::words).orElse(""))
        .filter(words -> !words.isEmpty())
        .collect(Collectors.joining("; "));
  }

  public boolean isEmpty() {
    return actions.isEmpty();
  }

  /** The data that it deletes, each in words with its path. */
  public List<String> deletedData() {
    return Step.data(
        actions.stream()
            .filter(action -> action.kind() == Action.Kind.UNDO)
            .map(Action::step)
            .toList());
  }

  /** The actions by chain, in order. */
  public Map<Chain, List<Action>> byChain(Action.Kind kind) {
    Map<Chain, List<Action>> chains = new LinkedHashMap<>();
    for (Action action : actions) {
      if (action.kind() == kind) {
        chains.computeIfAbsent(action.step().chain(), chain -> new ArrayList<>()).add(action);
      }
    }
    return chains;
  }

  /** As text. */
  public String toText() {
    StringBuilder text = new StringBuilder();
    warnings.forEach(warning -> text.append("warning: ").append(warning).append('\n'));
    notes.forEach(note -> text.append("note: ").append(note).append('\n'));
    choices.forEach(choice -> text.append("note: ").append(choice).append('\n'));
    channels.stream()
        .filter(choice -> choice.measured().isPresent())
        .forEach(choice -> text.append("note: ").append(choice).append('\n'));
    if (isEmpty()) {
      return text.append(deployment).append(": nothing to do\n").toString();
    }
    text.append(deployment).append(uri.isEmpty() ? "" : " on " + uri).append('\n');
    for (Action.Kind kind : List.of(Action.Kind.UNDO, Action.Kind.DO)) {
      byChain(kind)
          .forEach(
              (chain, actions) -> {
                String consequence = meaning(chain);
                text.append("  ").append(chain);
                text.append(consequence.isEmpty() ? "" : ": ").append(consequence).append('\n');
                actions.forEach(a -> text.append("    ").append(a).append('\n'));
              });
    }
    deletedData().forEach(data -> text.append("deletes data: ").append(data).append('\n'));
    long count = actions.size();
    text.append(count == 1 ? "1 step\n" : count + " steps\n");
    return text.toString();
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", deployment);
    tree.put("uri", uri);
    tree.put("warnings", warnings);
    tree.put("notes", notes);
    tree.put("channels", channels.stream().map(ChannelChoice::toTree).toList());
    tree.put("placements", choices.stream().map(Choice::toTree).toList());
    List<Object> list = new ArrayList<>();
    for (Action action : actions) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("action", action.kind() == Action.Kind.DO ? "do" : "undo");
      one.put("id", action.step().id());
      one.put("type", action.step().getClass().getSimpleName());
      one.put("description", action.step().describe());
      one.put("why", action.why());
      one.put("step", StepCodec.write(action.step()));
      list.add(one);
    }
    tree.put("actions", list);
    tree.put("deletedData", deletedData());
    Map<String, Object> meant = new LinkedHashMap<>();
    consequences.forEach((chain, words) -> meant.put(chain.toString(), words));
    tree.put("consequences", meant);
    List<Object> running = new ArrayList<>();
    programs.forEach(
        (chain, found) -> {
          Map<String, Object> one = new LinkedHashMap<>();
          one.put("object", chain.toString());
          one.put("sessions", found.sessions());
          one.put("text", found.words());
          running.add(one);
        });
    tree.put("programs", running);
    return tree;
  }
}
