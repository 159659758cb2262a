package graft.provisioner.step.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.provisioner.apply.Applier;
import graft.provisioner.apply.ApplyListener;
import graft.provisioner.apply.LiveContext;
import graft.provisioner.apply.Steps;
import graft.provisioner.apply.Undoer;
import graft.provisioner.journal.Journal;
import graft.provisioner.observe.Connections;
import graft.provisioner.observe.HostFacts.PageGrants;
import graft.provisioner.plan.Action;
import graft.provisioner.plan.Plan;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's limit of granted pages, raised by set-ups and given back, in whatever order. */
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

  private void in(String setup, Work work) throws Exception {
    try (Journal journal =
        Journal.open(folder.resolve(setup + ".jsonl"), Steps.CODEC, Clock.systemUTC())) {
      HostAccess host = new HostAccess(files, files.links(), TimeLimits.DEFAULT);
      work.run(journal, new LiveContext(new Connections(), host, journal, ApplyListener.NONE));
    }
  }

  private void apply(String setup, int pages) throws Exception {
    Action raise = new Action(Action.Kind.DO, new RaiseGrantLimit(pages), "");
    Plan plan = new Plan(setup, "xen:///system", List.of(raise), List.of(), List.of());
    in(
        setup,
        (journal, context) ->
            new Applier(journal, context, ApplyListener.NONE).apply(plan, "/d/lab.yaml", true));
  }

  private void undo(String setup) throws Exception {
    in(
        setup,
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
  void itIsRaisedByWhatIsNeededAndGivenBack() throws Exception {
    apply("a", 8208);
    assertThat(limit()).isEqualTo(9232);
    undo("a");
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void doneAgainItIsTheSame() throws Exception {
    apply("a", 8208);
    apply("a", 8208);
    assertThat(limit()).isEqualTo(9232);
    files.file(PageGrants.LIMIT, "1024"); // a boot
    apply("a", 8208);
    assertThat(limit()).isEqualTo(9232);
  }

  @Test
  void itGrowsInPlaceAndGoesBackToTheFirst() throws Exception {
    apply("a", 8208);
    apply("a", 16416);
    assertThat(limit()).isEqualTo(17440);
    undo("a");
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void anApplyThatWasKilledBeforeItRaisedItIsTakenBack() throws Exception {
    apply("a", 8208);
    apply("a", 16416);
    files.file(PageGrants.LIMIT, "9232"); // as the first left it
    undo("a");
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void whatAnotherSetUpRaisedSinceStays() throws Exception {
    apply("a", 8208);
    apply("b", 8208);
    assertThat(limit()).isEqualTo(17440);
    undo("a");
    assertThat(limit()).isEqualTo(17440);
    undo("b");
    assertThat(limit()).isEqualTo(9232);
  }

  @Test
  void takenBackItIsNeverRaised() throws Exception {
    files.file(PageGrants.LIMIT, "4096");
    apply("a", 8208);
    files.file(PageGrants.LIMIT, "1024"); // a boot
    undo("a");
    assertThat(limit()).isEqualTo(1024);
  }

  @Test
  void aModuleThatIsGoneTookItsLimitWithIt() throws Exception {
    apply("a", 8208);
    files.deleteFile(PageGrants.LIMIT);
    undo("a");
    assertThatThrownBy(() -> apply("b", 8208))
        .hasMessageContaining("there is no /sys/module/xen_gntalloc/parameters/limit");
  }
}
