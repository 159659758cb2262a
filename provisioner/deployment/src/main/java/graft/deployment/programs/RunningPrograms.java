package graft.deployment.programs;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.host.HostServer;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The programs that use the vGPUs which a change takes away for a while or for good. Only the
 * servers of such a change are asked, each once. A server may be compromised: of its answer only
 * the number of sessions and names that the journal knows are used.
 */
public final class RunningPrograms {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int MOST_CHARACTERS = 120;

  private final JournalState journal;
  private final ServerQuestion question;
  private final Map<String, Answer> answers = new HashMap<>();

  /** Sessions by guest, those of other names together; or why there is no answer. */
  private record Answer(Map<String, Integer> sessions, int others, String error) {
    int of(String guest) {
      return sessions.getOrDefault(guest, 0);
    }

    int all() {
      return others + sessions.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  /**
   * @param journal of what is there
   */
  public RunningPrograms(JournalState journal, ServerQuestion question) {
    this.journal = journal;
    this.question = question;
  }

  /** The plan with the programs that it ends. */
  public Plan in(Plan plan) {
    return plan.with(
        ended(
            steps(plan, Action.Kind.UNDO),
            steps(plan, Action.Kind.DO).stream().map(Step::id).collect(Collectors.toSet())));
  }

  private static List<Step> steps(Plan plan, Action.Kind kind) {
    return plan.actions().stream()
        .filter(action -> action.kind() == kind)
        .map(Action::step)
        .toList();
  }

  /**
   * The programs that lose their sessions.
   *
   * @param undone the steps that are undone
   * @param again the ids of those that are done again
   */
  public Map<Chain, Plan.Programs> ended(List<Step> undone, Set<String> again) {
    Map<Chain, Plan.Programs> programs = new LinkedHashMap<>();
    for (Step step : undone) {
      if (step instanceof HostServer server) {
        programs.put(step.chain(), onServer(server));
      } else if (step instanceof StartGuest
          || (step instanceof GrantAccess && !again.contains(step.id()))) {
        ofGuest(step.chain()).ifPresent(found -> programs.put(step.chain(), found));
      }
    }
    return programs;
  }

  private Plan.Programs onServer(HostServer server) {
    Answer answer = ask(server);
    if (!answer.error().isEmpty()) {
      return unknown("uses it", answer.error());
    }
    List<String> guests = new ArrayList<>();
    answer.sessions().forEach((guest, count) -> guests.add(guest + " " + count));
    if (answer.others() > 0) {
      guests.add("others " + answer.others());
    }
    return new Plan.Programs(
        answer.all(),
        guests.isEmpty()
            ? "no program uses it now"
            : "programs that use it now: " + String.join(", ", guests));
  }

  /** Empty for a guest without a vGPU of this host. */
  private Optional<Plan.Programs> ofGuest(Chain chain) {
    Set<String> gpus = new TreeSet<>();
    for (GrantAccess grant : steps(GrantAccess.class)) {
      if (grant.chain().equals(chain)) {
        gpus.add(grant.gpu());
      }
    }
    List<HostServer> servers =
        steps(HostServer.class).stream().filter(server -> gpus.contains(server.gpu())).toList();
    if (servers.isEmpty()) {
      return Optional.empty();
    }
    int count = 0;
    for (HostServer server : servers) {
      Answer answer = ask(server);
      if (!answer.error().isEmpty()) {
        return Optional.of(unknown("runs on its vGPU", answer.error()));
      }
      count += answer.of(chain.name());
    }
    String words =
        switch (count) {
          case 0 -> "no program runs on its vGPU now";
          case 1 -> "1 program runs on its vGPU now";
          default -> count + " programs run on its vGPU now";
        };
    return Optional.of(new Plan.Programs(count, words));
  }

  private static Plan.Programs unknown(String what, String why) {
    return new Plan.Programs(null, "it is not known whether a program " + what + " now: " + why);
  }

  private <T extends Step> List<T> steps(Class<T> type) {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private Answer ask(HostServer server) {
    return answers.computeIfAbsent(server.gpu(), gpu -> answer(server));
  }

  private Answer answer(HostServer server) {
    if (!server.runs()) {
      return new Answer(Map.of(), 0, "");
    }
    try {
      if (!(question.ask(server.operator(), LIMIT).get("sessions") instanceof List<?> sessions)) {
        throw new IOException("its answer has no sessions");
      }
      Set<String> known =
          steps(GrantAccess.class).stream().map(GrantAccess::guest).collect(Collectors.toSet());
      Map<String, Integer> counts = new TreeMap<>();
      int others = 0;
      for (Object each : sessions) {
        if (each instanceof Map<?, ?> session
            && session.get("guest") instanceof String guest
            && known.contains(guest)) {
          counts.merge(guest, 1, Integer::sum);
        } else {
          others++;
        }
      }
      return new Answer(counts, others, "");
    } catch (IOException | IllegalArgumentException e) {
      String text = e.getMessage() == null ? e.toString() : e.getMessage();
      return new Answer(
          Map.of(),
          0,
          "the server of '"
              + server.gpu()
              + "' does not answer: "
              + GuestText.line(text, MOST_CHARACTERS));
    }
  }
}
