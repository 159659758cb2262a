package graft.sriov.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.StubDriver;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.Journal;
import graft.sriov.operation.SetVfCount;
import graft.sriov.plan.PassthroughPlan.Note;
import graft.sriov.plan.PassthroughRequest.Bridges;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PassthroughPlannerTest {
  private static final PciAddress GPU = PciAddress.parse("0000:41:00.0");
  private static final PciAddress AUDIO = PciAddress.parse("0000:41:00.1");
  private static final PciAddress PF = PciAddress.parse("0000:3b:00.0");

  @TempDir private Path root;
  private FakeSysfs fake;
  private HostAccess host;
  private Ledger ledger = Ledger.EMPTY;

  @BeforeEach
  void aHostWithAGpuOfTwoFunctions() {
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(FakeDevice.gpu("0000:41:00.0").group(9))
            .add(
                FakeDevice.at("0000:41:00.1")
                    .ids(0x10de, 0x10f0)
                    .pciClass(0x040300)
                    .group(9)
                    .driver("snd_hda_intel"))
            .add(FakeDevice.mlx5("0000:3b:00.0", 4));
    host = new HostAccess(fake, fake.links(), TimeLimits.DEFAULT);
  }

  private PassthroughPlan plan(PassthroughRequest... requests) {
    return new PassthroughPlanner(HostState.read(host, ledger, Map.of())).plan(List.of(requests));
  }

  private List<String> refused(PassthroughRequest... requests) {
    SortedMap<String, String> before = fake.state();
    List<String> problems = new ArrayList<>();
    assertThatThrownBy(() -> plan(requests))
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> e.problems().stream().map(Problem::toString).forEach(problems::add));
    assertThat(fake.state()).isEqualTo(before);
    return problems;
  }

  @Test
  void aGpuGoesWithAllFunctionsOfItsSlotWhicheverIsNamed() {
    for (PciAddress named : List.of(GPU, AUDIO)) {
      PassthroughPlan plan = plan(new PassthroughRequest(named, "vm1"));
      assertThat(plan.operations())
          .extracting(DeviceChange::describe)
          .containsExactly("0000:41:00.0: bind to vfio-pci", "0000:41:00.1: bind to vfio-pci");
      assertThat(plan.ledger().toMap())
          .containsExactlyEntriesOf(
              new java.util.TreeMap<>(Map.of(GPU.toString(), "vm1", AUDIO.toString(), "vm1")));
      assertThat(plan.notes())
          .extracting(Note::toString)
          .contains("0000:41:00.0: reset by flr, then bus");
    }
  }

  @Test
  void underXenADeviceNeedsNoGroupThatDom0WouldSee() {
    fake.loadDriver("pciback").add(FakeDevice.gpu("0000:51:00.0").withoutGroup());
    PciAddress alone = PciAddress.parse("0000:51:00.0");
    PassthroughPlan plan =
        new PassthroughPlanner(HostState.read(host, ledger, Map.of()), StubDriver.PCIBACK)
            .plan(List.of(new PassthroughRequest(alone, "vm1")));
    assertThat(plan.operations())
        .extracting(DeviceChange::describe)
        .containsExactly("0000:51:00.0: bind to pciback");
    assertThat(plan.notes())
        .anyMatch(
            note ->
                note.text().contains("nvidia of dom0")
                    && note.text().contains("hide=(0000:51:00.0)"));
    assertThat(refused(new PassthroughRequest(alone, "vm1")))
        .singleElement()
        .asString()
        .contains("no IOMMU in use");
  }

  @Test
  void whatIsDoneAlreadyIsNotDoneAgain() {
    PassthroughPlan first = plan(new PassthroughRequest(GPU, "vm1"));
    new Journal(host).apply(first.operations());
    ledger = first.ledger();
    fake.process(99, "qemu-system-x86", "/dev/vfio/9");
    assertThat(plan(new PassthroughRequest(GPU, "vm1")).operations()).isEmpty();
  }

  @Test
  void aVfGoesAlone() {
    new SetVfCount(PF, 2).apply(host);
    PassthroughPlan plan = plan(new PassthroughRequest(PF.plus(2), "vm1"));
    assertThat(plan.operations())
        .extracting(DeviceChange::describe)
        .containsExactly("0000:3b:00.2: bind to vfio-pci");
  }

  @Test
  void oneDeviceForTwoGuests() {
    assertThat(refused(new PassthroughRequest(GPU, "vm1"), new PassthroughRequest(AUDIO, "vm2")))
        .first()
        .asString()
        .isEqualTo(
            "0000:41:00.0: vm1 has it, so vm2 cannot have it too. Detach it from vm1 first, or give"
                + " vm2 another device.");
    ledger = Ledger.EMPTY.claim(GPU, "vm3");
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .first()
        .asString()
        .contains("vm3 has it");
  }

  @Test
  void aGpuThatDrivesTheHostsDisplay() {
    fake.add(FakeDevice.gpu("0000:42:00.0").pciClass(0x030000).bootVga());
    assertThat(refused(new PassthroughRequest(PciAddress.parse("0000:42:00.0"), "vm1")))
        .containsExactly(
            "0000:42:00.0: it drives the host's display (boot_vga). Choose another GPU, or make"
                + " another adapter the primary display in the BIOS.");
  }

  @Test
  void aDeviceWithoutAnIommu() {
    fake.add(FakeDevice.gpu("0000:42:00.0").withoutGroup());
    assertThat(refused(new PassthroughRequest(PciAddress.parse("0000:42:00.0"), "vm1")))
        .singleElement()
        .asString()
        .contains("no IOMMU in use");
  }

  @Test
  void aGroupThatTheHostUsesToo() {
    fake.add(FakeDevice.at("0000:41:1f.0").group(9).driver("i801_smbus"));
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .containsExactly(
            "0000:41:00.0: IOMMU group 9 is not viable: it also holds 0000:41:1f.0 [8086:1000]"
                + " i801_smbus, which the host uses. Give 0000:41:1f.0 to vm1 too, unbind it, or"
                + " move the card to a slot with a group of its own.");
    assertThat(
            plan(
                    new PassthroughRequest(GPU, "vm1"),
                    new PassthroughRequest(PciAddress.parse("0000:41:1f.0"), "vm1"))
                .operations())
        .as("the way out works")
        .hasSize(3);
  }

  @Test
  void aGroupOfWhichAnotherGuestHasAMember() {
    fake.add(FakeDevice.at("0000:41:1f.0").group(9));
    ledger = Ledger.EMPTY.claim(PciAddress.parse("0000:41:1f.0"), "vm2");
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .singleElement()
        .asString()
        .contains("shares IOMMU group 9 with 0000:41:1f.0")
        .contains("which vm2 has");
  }

  @Test
  void unboundAndHarmlessMembersAreNoProblem() {
    fake.add(FakeDevice.at("0000:41:1e.0").group(9))
        .add(FakeDevice.at("0000:41:1f.0").group(9).driver("pci-stub"));
    assertThat(plan(new PassthroughRequest(GPU, "vm1")).operations()).hasSize(2);
  }

  @Test
  void aGroupSharedWithABridge() {
    fake.add(FakeDevice.bridge("0000:40:01.0").group(9));
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .singleElement()
        .asString()
        .contains("IOMMU group 9 also holds the bridge 0000:40:01.0 [8086:1000] pcieport")
        .contains("members: [0000:40:01.0, 0000:41:00.0, 0000:41:00.1]")
        .contains("ACS");
    assertThat(plan(new PassthroughRequest(GPU, "vm1", Bridges.ACCEPT)).operations()).hasSize(2);
  }

  @Test
  void aGpuThatAProcessUses() {
    fake.process(812, "python3", "/dev/nvidia0");
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .containsExactly(
            "0000:41:00.0: it is in use: open in python3 (process 812, /dev/nvidia0). Stop what"
                + " uses it first.");
    fake.kill(812);
    fake.process(700, "nvidia-persiste", "/dev/nvidia0");
    assertThat(refused(new PassthroughRequest(GPU, "vm1")))
        .singleElement()
        .asString()
        .contains("systemctl stop nvidia-persistenced");
  }

  @Test
  void aDeviceThatCarriesTheHostsNetworkOrDisk() {
    String disk = "/sys/devices/pci0000:00/0000:01:00.0/virtio3/block/vda";
    String raid = "/sys/devices/virtual/block/dm-0";
    fake.add(FakeDevice.at("0000:01:00.0").pciClass(0x010000).driver("virtio-pci"))
        .file(disk + "/vda1/partition", "1")
        .file(disk + "/vda2/holders/dm-0/dev", "254:0")
        .file(raid + "/slaves/vda2/partition", "2")
        .link("/sys/class/block/vda", disk)
        .link("/sys/class/block/vda1", disk + "/vda1")
        .link("/sys/class/block/vda2", disk + "/vda2")
        .link("/sys/class/block/dm-0", raid)
        .link("/sys/dev/block/254:0", raid)
        .file("/proc/1/mountinfo", "22 1 254:0 / / rw - ext4 /dev/root rw");
    PassthroughRequest root = new PassthroughRequest(PciAddress.parse("0000:01:00.0"), "vm1");
    assertThat(refused(root, new PassthroughRequest(PF, "vm1")))
        .containsExactly(
            "0000:01:00.0: it is in use: /dev/vda2 is mounted. Stop what uses it first.",
            "0000:3b:00.0: it is in use: its interface ibp59s0f0 is up. Stop what uses it first.");
    assertThatThrownBy(() -> BindDriver.toVfio(root.device()).apply(host))
        .as("not even when nobody has planned it")
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("/dev/vda2 is mounted");

    fake.file("/proc/1/mountinfo", "22 1 0:30 / / rw shared:1 - btrfs /dev/vda1 rw");
    assertThat(refused(root))
        .containsExactly(
            "0000:01:00.0: it is in use: /dev/vda1 is mounted, /dev/vda2 is part of dm-0. Stop what"
                + " uses it first.");
    fake.file("/proc/1/mountinfo", "")
        .deleteFile("/sys/devices/pci0000:00/0000:01:00.0/virtio3/block/vda/vda2/holders/dm-0")
        .process(31, "qemu-system-x86", "/dev/vda");
    assertThat(refused(root)).singleElement().asString().contains("open in qemu-system-x86");
    fake.kill(31);
    assertThat(plan(root).operations()).hasSize(1);
  }

  @Test
  void aVirtioCardThatCarriesTheHostsNetwork() {
    fake.add(FakeDevice.at("0000:00:05.0").pciClass(0x020000).driver("virtio-pci"))
        .file("/sys/bus/pci/devices/0000:00:05.0/virtio0/net/ens5/operstate", "up");
    assertThat(refused(new PassthroughRequest(PciAddress.parse("0000:00:05.0"), "vm1")))
        .singleElement()
        .asString()
        .contains("its interface ens5 is up");
  }

  @Test
  void aPhysicalFunctionWithVfs() {
    new SetVfCount(PF, 2).apply(host);
    fake.file("/sys/bus/pci/devices/0000:3b:00.0/net/ibp59s0f0/operstate", "down");
    assertThat(refused(new PassthroughRequest(PF, "vm1")))
        .containsExactly(
            "0000:3b:00.0: it is a physical function with 2 VFs, which would vanish. Pass a VF"
                + " through, or take the VFs away first.");
  }

  @Test
  void whatIsNotThereOrIsABridge() {
    fake.add(FakeDevice.bridge("0000:00:01.0"));
    assertThat(
            refused(
                new PassthroughRequest(PciAddress.parse("0000:99:00.0"), "vm1"),
                new PassthroughRequest(PciAddress.parse("0000:00:01.0"), "vm1", Bridges.ACCEPT)))
        .containsExactly(
            "0000:99:00.0: there is no such device. Look at lspci -D; a VF is there only after its"
                + " PF has been told to make it.",
            "0000:00:01.0: it is a bridge. Name the device below it that the guest needs.");
  }

  @Test
  void theOperatorIsToldOfMigMpsAndDevicesThatDoNotReset() {
    fake.add(FakeDevice.gpu("0000:42:00.0").resetMethod(null))
        .process(813, "nvidia-cuda-mps", "/dev/nvidiactl")
        .file("/proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0/access", "DeviceFileMinor: 12");
    assertThat(plan(new PassthroughRequest(PciAddress.parse("0000:42:00.0"), "vm1")).notes())
        .extracting(Note::toString)
        .containsExactly(
            "0000:42:00.0: the kernel knows no way to reset it; a guest may find it as the last"
                + " left it",
            "0000:42:00.0: it is divided into MIG instances [gi1/ci0], which end with the host's"
                + " driver",
            "0000:42:00.0: CUDA MPS runs on this host and will not see it any more");
  }

  @Test
  void aLedgerIsTheSameAfterTheJournal() {
    Ledger some = Ledger.EMPTY.claim(GPU, "vm1").claim(GPU, "vm1").claim(AUDIO, "vm2");
    assertThat(Ledger.fromMap(some.toMap())).isEqualTo(some);
    assertThat(some.release(AUDIO).holder(AUDIO)).isEmpty();
    assertThatThrownBy(() -> some.claim(GPU, "vm2")).isInstanceOf(RefusedException.class);
  }
}
