package graft.deployment.step.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.apply.Applier;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.apply.Undoer;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.observe.HostFacts.PageGrants;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kernel's limit of granted pages, raised by deployments and restored, in whatever order. */
class RaiseGrantLimitTest {
  @TempDir Path folder;
  private FakeSysfs files;

  @BeforeEach
  void aHostWithTheKernelsOwnLimit() {
    files = new FakeSysfs(folder.resolve("host")).file(PageGrants.LIMIT, "1024");
  }

  private interface Work {
    void run(Journal journal, LiveContext context) throws Exception;
  }

  private void in(String deployment, Work work) throws Exception {
    try (Journal journal =
        Journal.open(folder.resolve(deployment + ".jsonl"), Steps.CODEC, Clock.systemUTC())) {
      HostAccess host = new HostAccess(files, files.links(), TimeLimits.DEFAULT);
      work.run(journal, new LiveContext(new Connections(), host, journal, ApplyListener.NONE));
    }
  }

  private void apply(String deployment) throws Exception {
    Action raise =
        new Action(Action.Kind.DO, new RaiseGrantLimit(deployment, folder.resolve("notes")), "");
    Plan plan = new Plan(deployment, "xen:///system", List.of(raise), List.of(), List.of());
    in(
        deployment,
        (journal, context) ->
            new Applier(journal, context, ApplyListener.NONE).apply(plan, "/d/lab.yaml", true));
  }

  private void undo(String deployment) throws Exception {
    in(
        deployment,
        (journal, context) ->
            assertThat(
                    new Undoer(journal, context, ApplyListener.NONE)
                        .undo(journal.state().newestFirst()))
                .isEmpty());
  }

  private int limit() {
    return Integer.parseInt(files.read(PageGrants.LIMIT).orElseThrow());
  }

  @Test
  void itIsRaisedAndGivenBack() throws Exception {
    apply("a");
    assertThat(limit()).isEqualTo(32768);
    undo("a");
    assertThat(limit()).isEqualTo(1024);
    assertThat(folder.resolve("notes")).isEmptyDirectory();
  }

  @Test
  void doneAgainItIsTheSame() throws Exception {
    apply("a");
    apply("a");
    assertThat(limit()).isEqualTo(32768);
    files.file(PageGrants.LIMIT, "1024"); // a boot
    apply("a");
    assertThat(limit()).isEqualTo(32768);
    undo("a");
    assertThat(limit()).isEqualTo(1024);
  }

  @ParameterizedTest
  @CsvSource({"a, b, c", "c, b, a", "b, a, c"})
  void theLastOfThoseThatNeedItGivesItBack(String first, String second, String last)
      throws Exception {
    apply("a");
    apply("b");
    apply("c");
    undo(first);
    undo(second);
    assertThat(limit()).isEqualTo(32768);
    undo(last);
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void afterABootOneDeploymentRaisesItForTheOthersToo() throws Exception {
    apply("a");
    apply("b");
    files.file(PageGrants.LIMIT, "1024");
    apply("a");
    undo("a");
    assertThat(limit()).as("b counts on it").isEqualTo(32768);
    undo("b");
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void anApplyThatWasKilledBeforeItRaisedItIsTakenBack() throws Exception {
    apply("a");
    files.file(PageGrants.LIMIT, "1024");
    undo("a");
    assertThat(limit()).isEqualTo(1024);
    assertThat(folder.resolve("notes")).isEmptyDirectory();
  }

  @Test
  void anApplyThatWasKilledWhileItNotedTheLimitLeavesNothing() throws Exception {
    apply("a");
    files.file(PageGrants.LIMIT, "1024");
    Path notes = folder.resolve("notes");
    Files.move(notes.resolve("a"), notes.resolve("a.unfinished"));
    undo("a");
    assertThat(limit()).isEqualTo(1024);
    assertThat(notes).isEmptyDirectory();
  }

  @Test
  void whatSomebodyElseHasSetStays() throws Exception {
    apply("a");
    files.file(PageGrants.LIMIT, "50000");
    undo("a");
    assertThat(limit()).isEqualTo(50000);
    apply("a");
    assertThat(limit()).isEqualTo(50000);
    undo("a");
    assertThat(limit()).isEqualTo(50000);
  }

  @Test
  void aModuleThatIsGoneTookItsLimitWithIt() throws Exception {
    apply("a");
    files.deleteFile(PageGrants.LIMIT);
    undo("a");
    assertThatThrownBy(() -> apply("b"))
        .hasMessageContaining("there is no /sys/module/xen_gntalloc/parameters/limit");
  }
}
