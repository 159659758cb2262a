package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** A plan says what a change means for guests that exist, and names the data that it deletes. */
class DeletedDataTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          image: debian.qcow2
          memory: 512MiB
          disks: [{name: data, size: 10GiB}]
          vgpu: gpu0
      """;

  private static final String DATA =
      "the disk 'data' of alice, /var/lib/libvirt/images/graft/lab/alice/disk-data.qcow2";
  private static final String ROOT =
      "the disk 'root' of alice, /var/lib/libvirt/images/graft/lab/alice/root.qcow2";

  private final FakeHost host = new FakeHost().file("/d/debian.qcow2").file("/d/other.qcow2");

  private Plan after(String from, String to) throws Exception {
    host.carryOut(host.plan(LAB));
    return host.plan(LAB.replace(from, to));
  }

  @Test
  void moreMemoryRestartsTheGuestAndItsDisksStay() throws Exception {
    Plan plan = after("512MiB", "768MiB");
    assertThat(plan.deletedData()).isEmpty();
    assertThat(plan.toText())
        .contains("  guest alice: restarts; its disks stay\n")
        .containsPattern("define it in libvirt .*\\(changed: 512MiB → 768MiB\\)")
        .doesNotContain("deletes data");
  }

  @Test
  void aDiskThatIsNoLongerThereIsDataThatIsDeleted() throws Exception {
    Plan plan = after("    disks: [{name: data, size: 10GiB}]\n", "");
    assertThat(plan.deletedData()).containsExactly(DATA);
    assertThat(plan.toText())
        .contains(
            "guest alice: restarts (it was made with the disk 'data'); deletes its data: data; its other disks stay\n")
        .contains("\ndeletes data: " + DATA + "\n");
    assertThat(plan.toTree().get("deletedData")).asString().contains(DATA);
  }

  @Test
  void anotherImageIsAnotherDisk() throws Exception {
    assertThat(after("debian.qcow2", "other.qcow2").deletedData()).containsExactly(ROOT);
  }

  @Test
  void aGuestThatIsNoLongerThereTakesItsDisksAlong() throws Exception {
    Plan plan = after(LAB.substring(LAB.indexOf("guests:")), "guests: []\n");
    assertThat(plan.deletedData()).containsExactlyInAnyOrder(DATA, ROOT);
    assertThat(plan.toText()).contains("guest alice: is removed; deletes its data: data, root\n");
  }

  @Test
  void aServerThatIsStartedAgainEndsSessions() throws Exception {
    assertThat(after("device: software", "device: software, server: {port: 9000}").toText())
        .contains("GPU gpu0: restarts; programs that use it lose their sessions\n");
  }

  @Test
  void aDiskThatNoJournalKnowsIsNotWrittenOver() {
    host.file("/var/lib/libvirt/images/graft/lab/alice/disk-data.qcow2");
    assertThatThrownBy(() -> host.plan(LAB))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("alice/disk-data.qcow2, which no apply on record has made")
        .hasMessageContaining("lab.yaml:5");
  }
}
