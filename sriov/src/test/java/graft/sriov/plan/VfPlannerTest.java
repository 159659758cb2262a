package graft.sriov.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.host.RdmaPort.LinkLayer;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.DeviceChange;
import graft.sriov.operation.Journal;
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

class VfPlannerTest {
  private static final PciAddress PF = PciAddress.parse("0000:3b:00.0");
  private static final PciAddress OTHER = PciAddress.parse("0000:5e:00.0");
  private static final Guid GUID = Guid.parse("02:00:00:00:00:00:00:05");

  @TempDir private Path root;
  private FakeSysfs fake;
  private HostAccess host;
  private Ledger ledger = Ledger.EMPTY;
  private Map<PciAddress, Map<Integer, VfSettings>> known = Map.of();

  @BeforeEach
  void host() {
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(FakeDevice.mlx5("0000:3b:00.0", 8))
            .add(FakeDevice.mlx5("0000:5e:00.0", 8).ofed());
    host = new HostAccess(fake, fake.links(), TimeLimits.DEFAULT);
  }

  private List<DeviceChange> plan(VfRequest... requests) {
    return new VfPlanner(HostState.read(host, ledger, known)).plan(List.of(requests));
  }

  private List<String> lines(VfRequest... requests) {
    return plan(requests).stream().map(DeviceChange::describe).toList();
  }

  private void apply(VfRequest... requests) {
    new Journal(host).apply(plan(requests));
  }

  /** The problems of the requests; also checks that nothing has changed. */
  private List<String> refused(VfRequest... requests) {
    SortedMap<String, String> before = fake.state();
    List<String> problems = new ArrayList<>();
    assertThatThrownBy(() -> plan(requests))
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> e.problems().stream().map(Problem::toString).forEach(problems::add));
    assertThat(fake.state()).isEqualTo(before);
    return problems;
  }

  // The contents of a plan

  @Test
  void newVfsAreMadeQuietlyThenConfiguredThenBound() {
    VfRequest request =
        VfRequest.of(PF, 2)
            .withEach(Map.of(0, VfSettings.NONE.withGuids(GUID, GUID)))
            .withAll(VfSettings.NONE.withPolicy(VfPolicy.FOLLOW))
            .withDrivers(Map.of(0, "vfio-pci", 1, "mlx5_core"));

    assertThat(lines(request))
        .containsExactly(
            "0000:3b:00.0: driver autoprobe of VFs off",
            "0000:3b:00.0: 2 virtual functions",
            "0000:3b:00.0: VF 0 gets node GUID 02:00:00:00:00:00:00:05, port GUID"
                + " 02:00:00:00:00:00:00:05, link Follow",
            "0000:3b:00.0: VF 1 gets link Follow",
            "0000:3b:00.1: bind to vfio-pci",
            "0000:3b:00.2: bind to mlx5_core");
    apply(request);
    assertThat(lines(request)).as("and then there is nothing left to do").isEmpty();
  }

  @Test
  void guidsAreMadeFromThePfAndAreTheSameEveryTime() {
    VfRequest request = VfRequest.of(PF, 2).withGuids(GuidScheme.DEFAULT);
    Guid pf = Guid.parse("0c42:a103:0000:3b00");
    apply(request);

    assertThat(HostState.read(host).settings().get(PF))
        .extracting(settings -> settings.portGuid().orElseThrow())
        .containsExactly(GuidScheme.DEFAULT.of(pf, 0), GuidScheme.DEFAULT.of(pf, 1));
    assertThat(lines(request)).isEmpty();
    assertThat(
            HostState.read(host).pci().rdmaOf(PF.plus(1)).stream()
                .flatMap(r -> r.nodeGuid().stream()))
        .as("nobody has bound it yet")
        .isEmpty();
  }

  @Test
  void aVfThatStaysLetsItsDriverGoForNewGuids() {
    apply(VfRequest.of(PF, 2).withDrivers(Map.of(0, "mlx5_core", 1, "mlx5_core")));
    VfRequest request =
        VfRequest.of(PF, 2).withEach(Map.of(1, VfSettings.NONE.withGuids(GUID, GUID)));

    assertThat(lines(request))
        .containsExactly(
            "0000:3b:00.0: VF 1 gets node GUID 02:00:00:00:00:00:00:05, port GUID"
                + " 02:00:00:00:00:00:00:05");
    fake.takeLog();
    apply(request);
    assertThat(fake.takeLog())
        .contains(
            "/sys/bus/pci/drivers/mlx5_core/unbind = 0000:3b:00.2",
            "/sys/bus/pci/drivers/mlx5_core/bind = 0000:3b:00.2");
    assertThat(HostState.read(host).pci().rdmaOf(PF.plus(2)).get(0).nodeGuid()).contains(GUID);
  }

  @Test
  void aVfThatStaysLetsItsDriverGoForANewMacAndNotWhileAGuestHasIt() {
    fake.add(FakeDevice.mlx5("0000:86:00.0", 4).ethernet());
    PciAddress ethernet = PciAddress.parse("0000:86:00.0");
    apply(VfRequest.of(ethernet, 1).withDrivers(Map.of(0, "mlx5_core")));
    VfSettings mac = VfSettings.NONE.withMac(MacAddress.parse("02:00:00:00:00:01"));
    VfRequest request = VfRequest.of(ethernet, 1).withEach(Map.of(0, mac));

    assertThat(lines(request)).containsExactly("0000:86:00.0: VF 0 gets MAC 02:00:00:00:00:01");
    ledger = Ledger.EMPTY.claim(ethernet.plus(1), "vm1");
    assertThat(refused(request))
        .singleElement()
        .asString()
        .contains("MAC 02:00:00:00:00:01 takes effect only when its driver lets it go");
  }

  @Test
  void theLinkPolicyNeedsNoRebind() {
    apply(VfRequest.of(PF, 1).withDrivers(Map.of(0, "mlx5_core")));
    assertThat(lines(VfRequest.of(PF, 1).withAll(VfSettings.NONE.withPolicy(VfPolicy.UP))))
        .containsExactly("0000:3b:00.0: VF 0 gets link Up");
  }

  @Test
  void whatTheDriverDoesNotSayTheJournalKnows() {
    apply(VfRequest.of(PF, 1));
    VfSettings guids = VfSettings.NONE.withGuids(GUID, GUID);
    VfRequest request = VfRequest.of(PF, 1).withEach(Map.of(0, guids));
    assertThat(lines(request)).hasSize(1);
    known = Map.of(PF, Map.of(0, guids));
    assertThat(lines(request)).isEmpty();
  }

  @Test
  void noVfsAtAllIsOneStep() {
    apply(VfRequest.of(PF, 4));
    assertThat(lines(VfRequest.of(PF, 0))).containsExactly("0000:3b:00.0: 0 virtual functions");
  }

  @Test
  void theOutOfTreeDriverTakesGuidsByItsFiles() {
    apply(
        VfRequest.of(OTHER, 1)
            .withEach(Map.of(0, VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.UP))));
    String folder = "/sys/bus/pci/devices/0000:5e:00.0/sriov/0/";
    assertThat(fake.read(folder + "node")).contains(GUID.toString());
    assertThat(fake.read(folder + "port")).contains(GUID.toString());
    assertThat(fake.read(folder + "policy")).contains("Up");
    assertThat(fake.takeLog()).noneMatch(line -> line.startsWith("netlink"));
  }

  // Requests that are refused before anything changes

  @Test
  void anIndexOutOfRange() {
    assertThat(
            refused(
                VfRequest.of(PF, 4)
                    .withEach(Map.of(4, VfSettings.NONE.withPolicy(VfPolicy.UP)))
                    .withDrivers(Map.of(7, "vfio-pci"))))
        .containsExactly(
            "0000:3b:00.0: VF 4 is asked for, but there will be 4 VFs. Use an index from 0 to 3, or"
                + " ask for more VFs.",
            "0000:3b:00.0: VF 7 is asked for, but there will be 4 VFs. Use an index from 0 to 3, or"
                + " ask for more VFs.");
  }

  @Test
  void moreVfsThanTheFirmwareAllows() {
    assertThat(refused(VfRequest.of(PF, 9)))
        .singleElement()
        .asString()
        .contains("9 VFs asked for, but its firmware allows 8")
        .contains("mlxconfig -d 0000:3b:00.0 set SRIOV_EN=1 NUM_OF_VFS=9 LINK_TYPE_P1=1")
        .contains("mlxfwreset -d 0000:3b:00.0 reset");
  }

  @Test
  void aPfWhoseFirmwareHasNoVfs() {
    fake.add(FakeDevice.mlx5("0000:86:00.0", 0));
    assertThat(refused(VfRequest.of(PciAddress.parse("0000:86:00.0"), 4)))
        .containsExactly(
            "0000:86:00.0: its firmware offers no virtual functions. Run: mlxconfig -d 0000:86:00.0"
                + " set SRIOV_EN=1 NUM_OF_VFS=4 LINK_TYPE_P1=1; then mlxfwreset -d 0000:86:00.0"
                + " reset (or reboot); and turn SR-IOV on in the BIOS.");
  }

  @Test
  void guidsThatTwoVfsShare() {
    VfSettings guids = VfSettings.NONE.withGuids(GUID, GUID);
    assertThat(
            refused(
                VfRequest.of(PF, 2).withEach(Map.of(0, guids)),
                VfRequest.of(OTHER, 2).withEach(Map.of(1, guids))))
        .containsExactly(
            "VF 1 of 0000:5e:00.0: its node GUID 02:00:00:00:00:00:00:05 is also that of VF 0 of"
                + " 0000:3b:00.0. Give each its own, or have GUIDs made by leaving them out.",
            "VF 1 of 0000:5e:00.0: its port GUID 02:00:00:00:00:00:00:05 is also that of VF 0 of"
                + " 0000:3b:00.0. Give each its own, or have GUIDs made by leaving them out.");
  }

  @Test
  void aGuidThatAnAdapterOrAnotherPfsVfHas() {
    Guid pf = Guid.parse("0c42:a103:0000:3b00");
    assertThat(
            refused(VfRequest.of(OTHER, 1).withEach(Map.of(0, VfSettings.NONE.withNodeGuid(pf)))))
        .singleElement()
        .asString()
        .contains("also that of mlx5_3b_0");
    apply(VfRequest.of(OTHER, 1).withEach(Map.of(0, VfSettings.NONE.withGuids(GUID, GUID))));
    assertThat(refused(VfRequest.of(PF, 1).withEach(Map.of(0, VfSettings.NONE.withPortGuid(GUID)))))
        .singleElement()
        .asString()
        .contains("also that of VF 0 of 0000:5e:00.0");
  }

  @Test
  void anotherNumberWhileAVfIsWithAGuest() {
    apply(VfRequest.of(PF, 3).withDrivers(Map.of(1, "vfio-pci")));
    ledger = Ledger.EMPTY.claim(PF.plus(3), "vm1");
    assertThat(refused(VfRequest.of(PF, 4)))
        .containsExactly(
            "0000:3b:00.2: it is bound to vfio-pci, and 4 VFs instead of 3 would remove it."
                + " Detach it first, or leave the number of VFs of 0000:3b:00.0.",
            "0000:3b:00.3: it belongs to vm1, and 4 VFs instead of 3 would remove it. Detach it"
                + " first, or leave the number of VFs of 0000:3b:00.0.");
  }

  @Test
  void otherGuidsOrDriversForAVfThatIsWithAGuestButNotForItsNeighbours() {
    apply(VfRequest.of(PF, 2));
    ledger = Ledger.EMPTY.claim(PF.plus(1), "vm1");
    VfSettings guids = VfSettings.NONE.withGuids(GUID, GUID);
    assertThat(refused(VfRequest.of(PF, 2).withEach(Map.of(0, guids))))
        .singleElement()
        .asString()
        .startsWith("0000:3b:00.1: it belongs to vm1");
    assertThat(refused(VfRequest.of(PF, 2).withDrivers(Map.of(0, "mlx5_core"))))
        .singleElement()
        .asString()
        .contains("its driver is to change");
    assertThat(lines(VfRequest.of(PF, 2).withEach(Map.of(1, guids)))).hasSize(1);
  }

  @Test
  void anotherNumberWhileTheHostUsesAVf() {
    apply(VfRequest.of(PF, 1).withDrivers(Map.of(0, "mlx5_core")));
    fake.file("/sys/bus/pci/devices/0000:3b:00.1/net/ibp59s0f0v0/operstate", "up");
    assertThat(refused(VfRequest.of(PF, 2)))
        .singleElement()
        .asString()
        .contains("its interface ibp59s0f0v0 is up");
  }

  @Test
  void vfsForGuestsWithoutAnIommu() {
    Path elsewhere = root.resolve("elsewhere");
    FakeSysfs bare =
        new FakeSysfs(elsewhere)
            .loadDriver("vfio-pci")
            .add(FakeDevice.mlx5("0000:3b:00.0", 8).withoutGroup());
    fake = bare;
    host = new HostAccess(bare, bare.links(), TimeLimits.DEFAULT);
    assertThat(refused(VfRequest.of(PF, 1).withDrivers(Map.of(0, "vfio-pci"))))
        .singleElement()
        .asString()
        .contains("no IOMMU in use")
        .contains("intel_iommu=on iommu=pt");
    assertThat(lines(VfRequest.of(PF, 1).withDrivers(Map.of(0, "mlx5_core")))).isNotEmpty();
  }

  @Test
  void settingsThatThePortCannotHave() {
    fake.add(FakeDevice.mlx5("0000:86:00.0", 4).ethernet());
    PciAddress ethernet = PciAddress.parse("0000:86:00.0");
    assertThat(
            refused(
                VfRequest.of(ethernet, 1)
                    .withEach(Map.of(0, VfSettings.NONE.withGuids(GUID, GUID))),
                VfRequest.of(PF, 1).withAll(VfSettings.NONE.withTrust(true))))
        .containsExactly(
            "0000:86:00.0: VF 0: netlink on ens134f0 cannot set node GUID 02:00:00:00:00:00:00:05,"
                + " port GUID 02:00:00:00:00:00:00:05. GUIDs belong to InfiniBand ports; MAC, trust"
                + " and rate to Ethernet ports.",
            "0000:3b:00.0: VF 0: netlink on ibp59s0f0 cannot set trusted. GUIDs belong to"
                + " InfiniBand ports; MAC, trust and rate to Ethernet ports.");
    assertThat(lines(VfRequest.of(ethernet, 1).withGuids(GuidScheme.DEFAULT)))
        .as("made GUIDs are for InfiniBand alone")
        .noneMatch(line -> line.contains("GUID"));
  }

  @Test
  void settingsWithoutAWayToSetThem() {
    fake.deleteFile("/sys/bus/pci/devices/0000:3b:00.0/net");
    assertThat(refused(VfRequest.of(PF, 1).withGuids(GuidScheme.DEFAULT)))
        .singleElement()
        .asString()
        .contains("modprobe ib_ipoib");
  }

  @Test
  void whatIsNoPhysicalFunction() {
    apply(VfRequest.of(PF, 1));
    assertThat(
            refused(
                VfRequest.of(PF.plus(1), 1),
                VfRequest.of(PciAddress.parse("0000:99:00.0"), 1),
                VfRequest.of(OTHER, 1),
                VfRequest.of(OTHER, 2)))
        .containsExactly(
            "0000:3b:00.1: it is a virtual function itself. Name its physical function"
                + " 0000:3b:00.0.",
            "0000:99:00.0: there is no such device. The physical functions here are [0000:3b:00.0,"
                + " 0000:5e:00.0].",
            "0000:5e:00.0: its VFs are asked for twice. Say once how many VFs it shall have.");
  }

  @Test
  void aPfThatIsWithoutItsDriver() {
    BindDriver.toNothing(PF, java.util.Optional.empty()).apply(host);
    assertThat(refused(VfRequest.of(PF, 1)))
        .singleElement()
        .asString()
        .contains("it has no driver, which cannot make VFs");
  }

  @Test
  void theModuleOfMlx4IsLoadedWithItsOptionsOrTheyAreRefused() {
    fake.add(FakeDevice.mlx4("0000:05:00.0", 2)).add(FakeDevice.mlx4("0000:06:00.0", 2));
    PciAddress first = PciAddress.parse("0000:05:00.0");
    PciAddress second = PciAddress.parse("0000:06:00.0");
    assertThat(refused(VfRequest.of(first, 1), VfRequest.of(second, 2)))
        .singleElement()
        .asString()
        .startsWith("0000:06:00.0: the options of mlx4's module count for all its adapters:");

    fake.file("/etc/modprobe.d/old.conf", "# mine\noptions mlx4_core num_vfs=2");
    assertThat(refused(VfRequest.of(first, 1)))
        .containsExactly(
            "0000:05:00.0: /etc/modprobe.d/old.conf gives mlx4_core options too: 'options mlx4_core"
                + " num_vfs=2'. Remove the line, or ask for what it makes.");
    assertThat(lines(VfRequest.of(first, 2)))
        .as("as it is, with the host's drivers kept away")
        .containsExactly("0000:05:00.0: driver autoprobe of VFs off");

    fake.deleteFile("/etc/modprobe.d/old.conf");
    apply(VfRequest.of(first, 1), VfRequest.of(second, 1));
    assertThat(refused(VfRequest.of(first, 1)))
        .singleElement()
        .asString()
        .startsWith(
            "0000:05:00.0: its module was loaded before it had the options in"
                + " /etc/modprobe.d/graft-mlx4.conf. Load it again: modprobe -r");
    fake.reloadMlx4();
    VfRequest[] both = {VfRequest.of(first, 1), VfRequest.of(second, 1)};
    assertThat(lines(both)).hasSize(2).allMatch(line -> line.endsWith("autoprobe of VFs off"));
    apply(both);
    assertThat(lines(both)).isEmpty();
  }

  @Test
  void anotherNumberOfAnMlx4Adapter() {
    fake.add(FakeDevice.mlx4("0000:05:00.0", 2));
    PciAddress mlx4 = PciAddress.parse("0000:05:00.0");
    assertThat(lines(VfRequest.of(mlx4, 1).withGuids(GuidScheme.DEFAULT)))
        .as("its module has to be loaded again before anything else")
        .containsExactly("/etc/modprobe.d/graft-mlx4.conf: options mlx4_core num_vfs=1 probe_vf=0");
    assertThat(lines(VfRequest.of(mlx4, 2).withLink(LinkLayer.ETHERNET)))
        .containsExactly(
            "/etc/modprobe.d/graft-mlx4.conf: options mlx4_core num_vfs=2 probe_vf=0"
                + " port_type_array=2");
    assertThat(lines(VfRequest.of(mlx4, 2).withLink(LinkLayer.INFINIBAND)))
        .containsExactly("0000:05:00.0: driver autoprobe of VFs off");
    assertThat(lines(VfRequest.of(mlx4, 2).withGuids(GuidScheme.DEFAULT)))
        .as("port GUIDs can be set, node GUIDs are left out")
        .hasSize(3)
        .allMatch(line -> !line.contains("node GUID"));
    apply(VfRequest.of(mlx4, 2).withGuids(GuidScheme.DEFAULT));
    assertThat(lines(VfRequest.of(mlx4, 2).withGuids(GuidScheme.DEFAULT))).isEmpty();
  }
}
