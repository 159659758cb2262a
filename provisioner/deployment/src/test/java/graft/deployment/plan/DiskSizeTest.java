package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.descriptor.InvalidDescriptorException;
import org.junit.jupiter.api.Test;

/** The size of disks: they grow in place, and never shrink. */
class DiskSizeTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      guests:
        - name: alice
          image: debian.qcow2
          disk-size: 20GiB
          disks: [{name: data, size: 1GiB}]
      """;

  private static final String WITHOUT = LAB.replace("    disk-size: 20GiB\n", "");
  private static final String ROOT = "/var/lib/libvirt/images/graft/lab/alice/root.qcow2";

  private final FakeHost host = new FakeHost().disk("/d/debian.qcow2", "10GiB");

  private Plan after(String before, String descriptor) throws Exception {
    host.carryOut(host.plan(before));
    return host.plan(descriptor);
  }

  private static String size(String size) {
    return LAB.replace("20GiB", size);
  }

  private void grown(Plan plan, String step) throws Exception {
    assertThat(plan.actions()).extracting(Action::toString).containsExactly("+ " + step);
    assertThat(plan.deletedData()).isEmpty();
    assertThat(plan.toText()).contains("guest alice: changes in place");
  }

  @Test
  void aNewDiskHasTheSizeAtOnce() throws Exception {
    Plan plan = host.plan(LAB);
    assertThat(plan.toText())
        .contains("make its disk 'root' of 20GiB over /d/debian.qcow2")
        .doesNotContain("larger");
    assertThat(after(LAB, LAB).isEmpty()).isTrue();
  }

  @Test
  void aDiskGrowsInPlace() throws Exception {
    grown(after(LAB, size("30GiB")), "make its disk 'root' larger: 30GiB");
    assertThat(after(size("30GiB"), size("30GiB")).isEmpty()).isTrue();
    grown(host.plan(size("40GiB")), "make its disk 'root' larger: 40GiB (changed: 30GiB → 40GiB)");
    grown(
        after(size("30GiB"), size("30GiB").replace("size: 1GiB", "size: 2GiB")),
        "make its disk 'data' larger: 2GiB");
  }

  @Test
  void theDiskOfAGuestThatHadNoSizeGrows() throws Exception {
    grown(after(WITHOUT, LAB), "make its disk 'root' larger: 20GiB");
    assertThat(after(LAB, WITHOUT).isEmpty()).as("without the key it stays").isTrue();
    assertThat(host.plan(LAB).isEmpty()).isTrue();
  }

  @Test
  void aDiskNeverShrinks() throws Exception {
    host.carryOut(host.plan(LAB));
    assertThatThrownBy(() -> host.plan(size("15GiB")))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("disk 'root' of 'alice' has 20GiB, and cannot shrink to 15GiB")
        .hasMessageContaining("lab.yaml:4");
    host.carryOut(host.plan(LAB.replace("size: 1GiB", "size: 3GiB")));
    for (String less : new String[] {"1GiB", "2GiB"}) {
      assertThatThrownBy(() -> host.plan(LAB.replace("size: 1GiB", "size: " + less)))
          .hasMessageContaining("disk 'data' of 'alice' has 3GiB, and cannot shrink to " + less);
    }
  }

  @Test
  void aDiskThatASnapshotMadeSmallerGrowsAgain() throws Exception {
    host.carryOut(host.plan(LAB)).carryOut(host.plan(size("30GiB"))).disk(ROOT, "20GiB");
    grown(host.plan(size("30GiB")), "make its disk 'root' larger: 30GiB (it has 20GiB)");
  }

  @Test
  void anotherImageIsAnotherDiskOfTheSizeThatIsWanted() throws Exception {
    host.disk("/d/other.qcow2", "5GiB").carryOut(host.plan(LAB));
    host.carryOut(host.plan(size("30GiB")));
    String other = size("8GiB").replace("debian", "other");
    assertThat(host.plan(other).deletedData()).hasSize(1);
    assertThat(after(other, other).isEmpty()).isTrue();
  }

  @Test
  void aDiskThatIsSmallerThanItsImageIsRefusedWithBothSizes() {
    assertThatThrownBy(() -> host.plan(size("9GiB")))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("lab.yaml:6")
        .hasMessageContaining("a disk of 9GiB is smaller than its image, which has 10GiB");
  }

  @Test
  void onlyAGuestThatBootsAnImageHasThatDisk() {
    assertThatThrownBy(() -> host.plan(LAB.replace("image: debian.qcow2", "kernel: {image: v}")))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("lab.yaml:6")
        .hasMessageContaining("this one boots no image");
  }
}
