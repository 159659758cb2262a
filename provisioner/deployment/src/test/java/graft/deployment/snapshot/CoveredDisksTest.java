package graft.deployment.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.deployment.step.Step;
import graft.deployment.step.guest.CreateDisk;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

/** Which disks of a guest snapshots cover. */
class CoveredDisksTest {
  private static final String ROOT = disk("file", "/g/root.qcow2", "vda", "");
  private static final String SEED = disk("file", "/g/seed.img", "vdb", "<readonly/>");

  private static String disk(String attribute, String source, String target, String more) {
    return "<disk><source %s='%s'/><target dev='%s'/>%s</disk>"
        .formatted(attribute, source, target, more);
  }

  private static Element domain(String... disks) {
    return Xml.parse("<domain><devices>" + String.join("", disks) + "</devices></domain>")
        .getDocumentElement();
  }

  private static List<Step> made(String... disks) {
    return java.util.stream.Stream.of(disks)
        .<Step>map(
            disk ->
                new CreateDisk(
                    "alice",
                    disk,
                    Optional.empty(),
                    "",
                    Optional.empty(),
                    Path.of("/g", disk + ".qcow2")))
        .toList();
  }

  @Test
  void thoseThatGraftMadeAreCovered() {
    CoveredDisks disks =
        CoveredDisks.of(
            "alice",
            made("root", "data"),
            domain(ROOT, SEED, disk("file", "/g/data.qcow2", "vdc", "")));
    assertThat(disks.covered())
        .containsExactly(
            new GuestDisk("root", Path.of("/g/root.qcow2")),
            new GuestDisk("data", Path.of("/g/data.qcow2")));
    assertThat(disks.others()).as("the seed is never written").isEmpty();
  }

  @Test
  void thoseOfOthersAreNamed() {
    CoveredDisks disks =
        CoveredDisks.of(
            "alice",
            made("root"),
            domain(
                ROOT,
                "<disk device='cdrom'><target dev='sda'/></disk>",
                disk("dev", "/dev/sdb", "vdb", ""),
                disk("file", "/srv/own.raw", "vdc", "")));
    assertThat(disks.covered()).hasSize(1);
    assertThat(disks.others())
        .containsExactly(
            "vdb, /dev/sdb: Graft did not make this disk",
            "vdc, /srv/own.raw: Graft did not make this disk");
  }

  @Test
  void aSnapshotThatWouldHoldNothingIsRefused() {
    assertThatThrownBy(() -> CoveredDisks.of("alice", made(), domain(SEED)))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("a snapshot would hold nothing");
    assertThatThrownBy(
            () -> CoveredDisks.of("alice", made(), domain(disk("dev", "/dev/sdb", "vdb", ""))))
        .hasMessageContaining("not covered: vdb, /dev/sdb");
  }

  @Test
  void aDiskInWhosePlaceAnotherFileIsIsRefused() {
    assertThatThrownBy(
            () ->
                CoveredDisks.of(
                    "alice", made("root"), domain(disk("file", "/g/root.snap1", "vda", ""))))
        .hasMessageContaining("does not have /g/root.qcow2")
        .hasMessageContaining("virsh blockcommit");
  }
}
