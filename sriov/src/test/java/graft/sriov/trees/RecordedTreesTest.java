package graft.sriov.trees;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.IommuGroup;
import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.files.RootFolder;
import graft.sriov.host.HostPci;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaPort.LinkLayer;
import graft.sriov.host.SriovCapability;
import graft.sriov.netlink.VfLinks;
import graft.sriov.operation.ConfigureVf;
import graft.sriov.preflight.Finding;
import graft.sriov.preflight.Preflight;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import graft.sriov.vf.VfControl;
import graft.sriov.vf.VfControls;
import graft.sriov.vf.VfInterface;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests hosts that nothing emulates, with trees that follow the sources of their kernels. */
class RecordedTreesTest {
  private static final PciAddress PF = PciAddress.parse("0000:3b:00.0");
  private static final Guid GUID = Guid.parse("02:10:fd:80:16:8f:80:00");

  @TempDir private Path root;
  private final List<String> netlink = new ArrayList<>();
  private final List<VfSettings> kernelSays = new ArrayList<>();

  private HostAccess host(String tree) throws IOException {
    RecordedTree.make(root, tree);
    VfLinks links =
        new VfLinks() {
          @Override
          public List<VfSettings> read(NetInterface physical) {
            return List.copyOf(kernelSays);
          }

          @Override
          public void set(NetInterface physical, int vf, VfSettings wanted) {
            netlink.add(physical.name() + "(" + physical.index() + ") vf " + vf + ": " + wanted);
          }
        };
    return new HostAccess(new RootFolder(root), links, TimeLimits.DEFAULT);
  }

  @Test
  void mainlineMlx5IsReadWhole() throws IOException {
    HostPci pci = HostPci.read(host("mlx5-mainline.tree").files());

    assertThat(pci.devices().keySet())
        .extracting(PciAddress::toString)
        .containsExactly(
            "0000:3a:00.0", "0000:3b:00.0", "0000:3b:00.1", "0000:3b:00.2", "0000:3b:00.3");
    PciDevice pf = pci.device(PF).orElseThrow();
    assertThat(pf.parent()).contains(PciAddress.parse("0000:3a:00.0"));
    assertThat(pf.bars()).hasSize(1);
    assertThat(pf.bars().get(0).size()).hasToString("32MiB");
    assertThat(pf.sriov())
        .contains(new SriovCapability(8, 2, 2, 1, true, List.of(PF.plus(2), PF.plus(3))));
    assertThat(pf.iommuGroup()).contains(new IommuGroup(41));
    assertThat(pf.resetMethods()).containsExactly("flr", "bus");
    PciDevice second = pci.device(PF.plus(1)).orElseThrow();
    assertThat(second.sriov().orElseThrow().vfAddress(second.address(), 0))
        .as("the second port's VFs come after those of the first")
        .hasToString("0000:3b:01.2");
    assertThat(pci.rdmaOf(PF).get(0).ports().get(0).linkLayer()).isEqualTo(LinkLayer.INFINIBAND);
    assertThat(pci.rdmaOf(PF).get(0).ports().get(0).gids()).hasSize(1);
    assertThat(pci.rdmaOf(PF.plus(2)).get(0).nodeGuid()).isEmpty();
    PciDevice guests = pci.device(PF.plus(3)).orElseThrow();
    assertThat(guests.boundForPassthrough()).isTrue();
    assertThat(guests.driverOverride()).contains("vfio-pci");
    assertThat(pci.processes().usersOf("/dev/vfio/91")).hasSize(1);
  }

  @Test
  void mainlineMlx5TakesGuidsByNetlinkOnThePortsOwnInterface() throws IOException {
    HostAccess host = host("mlx5-mainline.tree");
    kernelSays.add(VfSettings.NONE.withPolicy(VfPolicy.FOLLOW));
    kernelSays.add(VfSettings.NONE.withPolicy(VfPolicy.FOLLOW));

    VfSettings wanted = VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.FOLLOW);
    new ConfigureVf(PF, 0, wanted, VfSettings.NONE).apply(host);

    assertThat(netlink)
        .as("not on the child interface with the partition key, whose number is lower")
        .containsExactly("ibp59s0f0(6) vf 0: node GUID " + GUID + ", port GUID " + GUID);
  }

  @Test
  void preflightOfMainlineMlx5() throws IOException {
    HostAccess host = host("mlx5-mainline.tree");
    assertThat(Preflight.check(host.files(), HostPci.read(host.files())))
        .extracting(finding -> finding.level() + " " + finding.subject() + ": " + finding.text())
        .containsExactly(
            "OK IOMMU: in use, and out of the way of the host's own devices",
            "OK vfio-pci: is loaded",
            "OK 0000:3b:00.0: up to 8 VFs, 2 now; their settings go by netlink on ibp59s0f0",
            "OK 0000:3b:00.1: up to 8 VFs, 0 now; their settings go by netlink on ibp59s0f1",
            "WARNING mlx5_0 port 1: its subnet manager is at LID 1, which is not this host; only"
                + " there can be seen whether it handles virtual ports",
            "PROBLEM mlx5_1 port 1: no link (Polling): look at the cable and the other end",
            "WARNING 0000:3b:00.2: the virtual function mlx5_2 has no node GUID (it is 0)");
  }

  @Test
  void ofedTakesAndShowsGuidsByFiles() throws IOException {
    HostAccess host = host("mlx5-ofed.tree");
    VfControl control = VfControls.find(host, PF).orElseThrow();
    assertThat(control.through().kind()).isEqualTo(VfInterface.Kind.OFED_FILES);
    Guid second = Guid.parse("02:10:fd:80:16:8f:80:01");
    assertThat(control.read())
        .as("zero is unknown")
        .containsExactly(
            VfSettings.NONE.withPolicy(VfPolicy.DOWN),
            VfSettings.NONE.withGuids(second, second).withPolicy(VfPolicy.FOLLOW));

    ConfigureVf operation =
        new ConfigureVf(
            PF,
            0,
            VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.FOLLOW),
            VfSettings.NONE);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);

    String folder = "/sys/bus/pci/devices/0000:3b:00.0/sriov/0/";
    assertThat(host.files().read(folder + "node")).contains("02:10:fd:80:16:8f:80:00");
    assertThat(host.files().read(folder + "port")).contains("02:10:fd:80:16:8f:80:00");
    assertThat(host.files().read(folder + "policy")).contains("Follow");
    operation.undo(host, before);
    assertThat(host.files().read(folder + "policy")).contains("Down");
    assertThat(host.files().read(folder + "node"))
        .as("what was unknown cannot be restored and stays")
        .contains("02:10:fd:80:16:8f:80:00");
    assertThat(netlink).isEmpty();
  }

  @Test
  void ofedsOwnSubnetManagerHandlesVirtualPorts() throws IOException {
    HostAccess host = host("mlx5-ofed.tree");
    assertThat(Preflight.check(host.files(), HostPci.read(host.files())))
        .filteredOn(finding -> finding.subject().equals("mlx5_0 port 1"))
        .extracting(Finding::level)
        .containsExactly(Finding.Level.OK);
  }

  @Test
  void mlx4TakesPortGuidsAtTheEntryOfTheVfsSlave() throws IOException {
    HostAccess host = host("mlx4.tree");
    PciAddress pf = PciAddress.parse("0000:05:00.0");
    VfControl control = VfControls.find(host, pf).orElseThrow();
    assertThat(control.through().kind()).isEqualTo(VfInterface.Kind.MLX4_FILES);
    List<VfSettings> present = control.read();
    assertThat(present).hasSize(9);
    assertThat(present.get(0)).as("0: the subnet manager assigns").isEqualTo(VfSettings.NONE);
    assertThat(present.get(7).portGuid()).hasToString("Optional[14:05:00:00:00:0c:0f:fe]");
    assertThat(present.get(8)).as("all ones: deleted").isEqualTo(VfSettings.NONE);

    String entry = "/sys/bus/pci/devices/0000:05:00.0/infiniband/mlx4_0/iov/ports/1/admin_guids/9";
    ConfigureVf operation =
        new ConfigureVf(pf, 8, VfSettings.NONE.withGuids(GUID, GUID), VfSettings.NONE);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    assertThat(host.files().read(entry)).contains("0x0210fd80168f8000");
    operation.undo(host, before);
    assertThat(host.files().read(entry)).contains("0xffffffffffffffff");
  }
}
