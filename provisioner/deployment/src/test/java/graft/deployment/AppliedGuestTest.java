package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Step;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.StartGuest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the journal knows of a guest that was set up. */
class AppliedGuestTest {
  private static final String UUID = "6f3c1bd2-1f51-4d8e-8f0a-0d4f1f3f2f10";

  @TempDir Path folder;

  @Test
  void theConsoleIsWhereTheGuestWasStartedWithIt() throws Exception {
    Path log = folder.resolve("guest-alice.log");
    AppliedGuest alice = AppliedGuest.of(journal(log), "alice");
    assertThat(alice.console()).as("nothing keeps it").isEmpty();
    Files.writeString(log, "GRAFT-READY uptime=25.13\r\n");
    assertThat(alice.console().orElseThrow().tail(5)).containsExactly("GRAFT-READY uptime=25.13");
  }

  /** Of a Xen guest: its definition names no file for its console. */
  private JournalState journal(Path console) {
    String uri = "xen:///system";
    List<Step> steps =
        List.of(
            new DefineGuest(uri, "alice", UUID, "1 CPU", "<domain type='xen'/>"),
            new StartGuest(uri, "alice", UUID, console));
    try (Journal journal =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      long run = journal.apply("/d/lab.yaml", uri);
      for (Step step : steps) {
        journal.begin(run, step, Map.of());
        journal.done(step, Map.of());
      }
      return journal.state();
    }
  }
}
