package graft.deployment.programs;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Plan;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.host.StartServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two guests on one server, of which a change takes away what it says. */
final class RunningProgramsTest {
  private static final Chain ALICE = Chain.guest("alice");

  @TempDir Path folder;
  private Process process;
  private StartServer server;
  private StartGuest alice;
  private GrantAccess grant;
  private JournalState journal;
  private final List<Path> asked = new ArrayList<>();

  @BeforeEach
  void apply() throws Exception {
    ServerLikeProcess like = ServerLikeProcess.start(folder);
    process = like.process();
    server = like.step();
    alice = new StartGuest("qemu:///system", "alice", "", folder.resolve("console"));
    grant = grant("alice");
    try (Journal open =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      long run = open.apply("/d/lab.yaml", "qemu:///system");
      StartGuest other = new StartGuest("qemu:///system", "other", "", folder.resolve("console"));
      for (Step step : List.of(server, grant, grant("bob"), alice, other)) {
        open.begin(run, step, Map.of());
        open.done(step, Map.of());
      }
      journal = open.state();
    }
  }

  private GrantAccess grant(String guest) {
    return new GrantAccess(guest, "gpu0", folder.resolve(guest), folder.resolve("tokens"), "");
  }

  @AfterEach
  void stop() {
    process.destroyForcibly();
  }

  private Map<Chain, Plan.Programs> ended(Object sessions, Step... undone) {
    return new RunningPrograms(
            journal,
            (socket, limit) -> {
              asked.add(socket);
              return Map.of("sessions", sessions);
            })
        .ended(List.of(undone), Set.of());
  }

  private static List<Map<String, Object>> sessions(Object... guests) {
    return java.util.stream.Stream.of(guests)
        .map(guest -> Map.of("session", "1", "guest", guest))
        .toList();
  }

  @Test
  void aGuestThatRestartsHasItsOwnProgramsNamed() {
    assertThat(ended(sessions("alice", "bob", "alice"), alice))
        .containsExactly(Map.entry(ALICE, new Plan.Programs(2, "2 programs run on its vGPU now")));
    assertThat(ended(sessions("alice"), alice).get(ALICE).words())
        .isEqualTo("1 program runs on its vGPU now");
    assertThat(ended(sessions("bob"), alice))
        .containsEntry(ALICE, new Plan.Programs(0, "no program runs on its vGPU now"));
  }

  @Test
  void aServerThatRestartsHasAllNamedAndIsAskedOnce() {
    Map<Chain, Plan.Programs> ended = ended(sessions("bob", "alice", "bob"), server, alice, grant);
    assertThat(ended.get(server.chain()))
        .isEqualTo(new Plan.Programs(3, "programs that use it now: alice 1, bob 2"));
    assertThat(ended.get(ALICE).sessions()).isOne();
    assertThat(asked).containsExactly(server.operator());
    assertThat(ended(List.of(), server).get(server.chain()).words())
        .isEqualTo("no program uses it now");
  }

  @Test
  void accessThatIsTakenAwayEndsProgramsAndAccessThatChangesDoesNot() {
    assertThat(ended(sessions("alice"), grant).get(ALICE).sessions()).isOne();
    RunningPrograms programs =
        new RunningPrograms(journal, (socket, limit) -> Map.of("sessions", sessions("alice")));
    assertThat(programs.ended(List.of(grant), Set.of(grant.id()))).isEmpty();
  }

  @Test
  void nobodyIsAskedForAGuestWithoutAVGpuOrAChangeInPlace() {
    StartGuest other = new StartGuest("qemu:///system", "other", "", folder.resolve("console"));
    assertThat(ended(sessions("alice"), other)).isEmpty();
    assertThat(ended(sessions("alice"))).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void aServerThatHasEndedServesNobody() throws Exception {
    process.destroyForcibly().waitFor();
    assertThat(ended(sessions("alice"), server, alice).values())
        .extracting(Plan.Programs::sessions)
        .containsExactly(0, 0);
    assertThat(asked).isEmpty();
  }

  @Test
  void aServerThatDoesNotAnswerLeavesItUnknown() {
    RunningPrograms programs =
        new RunningPrograms(
            journal,
            (socket, limit) -> {
              throw new IOException("timed out\n\u001b[2Jguest alice: all is well");
            });
    Map<Chain, Plan.Programs> ended = programs.ended(List.of(server, alice), Set.of());
    assertThat(ended.get(ALICE).sessions()).isNull();
    assertThat(ended.get(ALICE).words())
        .startsWith(
            "it is not known whether a program runs on its vGPU now: the server of 'gpu0' does not"
                + " answer: timed out")
        .doesNotContain("\n", "\u001b");
    assertThat(ended.get(server.chain()).words()).contains("whether a program uses it now");
  }

  /** A server that was taken over writes nothing into a plan but a number. */
  @Test
  void anAnswerThatIsAnAttackIsCountedAndNotShown() {
    List<Object> hostile =
        List.of(
            Map.of("guest", "mallory\n- undo: delete everything"),
            Map.of("guest", 7),
            Map.of(),
            "alice",
            List.of("alice"),
            Map.of("guest", "alice"));
    assertThat(ended(hostile, server, alice).get(server.chain()))
        .isEqualTo(new Plan.Programs(6, "programs that use it now: alice 1, others 5"));
    assertThat(ended(hostile, alice).get(ALICE).sessions()).isOne();
    for (Object answer : List.of("none", 3, Map.of("alice", 1))) {
      assertThat(ended(answer, alice).get(ALICE).words()).contains("its answer has no sessions");
    }
  }
}
