package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.ExportedDomain;
import graft.deployment.step.guest.DefineGuest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Guests' definitions for other programs are those of the plan, also once they are there. */
class DefinitionsTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          vgpu: any
      """;

  @Test
  void theyAreTheSameBeforeAndAfterApply() throws Exception {
    FakeHost host = new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio");
    List<DefineGuest> before = Planner.definitions(host.input(LAB));
    Plan plan = host.plan(LAB);
    assertThat(before)
        .isEqualTo(
            plan.actions().stream()
                .map(Action::step)
                .filter(DefineGuest.class::isInstance)
                .toList())
        .hasSize(1);
    host.carryOut(plan);
    assertThat(Planner.definitions(host.input(LAB))).isEqualTo(before);
  }

  /** The card and the shared memory are found as the plan writes them. */
  @Test
  void anExportedOneHasNeitherItsClosedCardNorItsSharedMemory() throws Exception {
    FakeHost host = new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio");
    DefineGuest planned = Planner.definitions(host.input(LAB)).get(0);
    assertThat(planned.xml()).contains("<uuid>", "<metadata>", "<shmem", "type='client'");
    ExportedDomain exported = ExportedDomain.of(planned);
    assertThat(exported.leftOut()).hasSize(2);
    assertThat(exported.xml())
        .doesNotContain("<uuid>", "<metadata>", "<shmem", "type='client'", "urn:graft")
        .contains("<name>alice</name>");
  }

  @Test
  void onlyAGuestOnANetworkOfLibvirtsIsReached() throws Exception {
    FakeHost host = new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio");
    for (String card : List.of("user", "closed")) {
      String lab = LAB.replace("vgpu: any", "vgpu: any\n    networks: [" + card + "]");
      assertThat(Planner.payloads(host.input(lab)).get(0).isReached()).as(card).isFalse();
    }
    String both = LAB.replace("vgpu: any", "vgpu: any\n    networks: [user, default]");
    assertThat(Planner.payloads(host.input(both)).get(0).isReached()).isTrue();
  }
}
