package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.values.PciAddress;
import graft.deployment.plan.Plan;
import graft.deployment.plan.UnfitHostException;
import graft.hypervisors.libvirt.UnsupportedFeatureException;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Path;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a descriptor's adapters, functions and devices become, and that it goes away again. */
class DevicePlanTest {
  private static final String FABRIC =
      """
      graft: 1
      name: lab
      fabric:
        persistent: false
        adapters:
          - {name: ib0, device: mlx5_3b_0, vfs: 2}
      """;

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private DeviceHost host;

  @BeforeEach
  void twoNodesWithAnAdapterAndAGpu() {
    host = new DeviceHost(folder);
    host.fake
        .node(0, "0-7", 65536)
        .node(1, "8-15", 65536)
        .add(FakeDevice.mlx5("0000:3b:00.0", 8).numa(0))
        .add(FakeDevice.gpu("0000:65:00.0").numa(1).group(20))
        .add(
            FakeDevice.at("0000:65:00.1").ids(0x10de, 0x10f0).pciClass(0x040300).group(20).numa(1));
  }

  @Test
  void aFunctionIsMadeNamedTakenAndGiven() throws Exception {
    Plan plan = host.plan(FABRIC + guest("vfs: [{adapter: ib0}]"));
    assertThat(DeviceHost.lines(plan))
        .containsExactly(
            "adapter ib0: + keep the host's drivers from new virtual functions of 0000:3b:00.0",
            "adapter ib0: + make 2 virtual functions of 0000:3b:00.0",
            "adapter ib0: + virtual function 0: node GUID 02:c3:7c:d8:5c:f9:60:00, port GUID"
                + " 02:c3:7c:d8:5c:f9:60:00",
            "adapter ib0: + virtual function 1: node GUID 02:c3:7c:d8:5c:f9:60:01, port GUID"
                + " 02:c3:7c:d8:5c:f9:60:01",
            "guest alice: + bind virtual function 0 of 'ib0', 0000:3b:00.1, to vfio-pci");
    assertThat(plan.toText()).contains("+ attach 0000:3b:00.1");
  }

  @Test
  void appliedAgainNothingIsLeftToDoAndUndoneAllIsAsBefore() throws Exception {
    SortedMap<String, String> first = host.fake.state();
    String descriptor =
        FABRIC
            + """
            gpus: [{name: a100, owner: "guest:alice", device: "0000:65:00.0"}]
            """
            + guest("vfs: [{adapter: ib0}]");
    host.apply(host.plan(descriptor));
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    assertThat(host.claims().keySet())
        .containsExactly("0000:3b:00.1", "0000:65:00.0", "0000:65:00.1");

    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
    assertThat(host.claims()).isEmpty();
  }

  @Test
  void aFunctionOfAnEthernetPortGetsItsMacAndTheHostIsAsBeforeAgain() throws Exception {
    host.fake.add(FakeDevice.mlx5("0000:5e:00.0", 8).ethernet());
    SortedMap<String, String> first = host.fake.state();
    String descriptor =
        FABRIC.replace(
                "mlx5_3b_0, vfs: 2",
                "mlx5_5e_0, vfs: 2, virtual-functions: [{index: 1, mac: \"02:00:00:00:00:0A\"}]")
            + guest("vfs: [{adapter: ib0, index: 1}]");
    assertThat(DeviceHost.lines(host.plan(descriptor)))
        .containsOnlyOnce("adapter ib0: + virtual function 1: MAC 02:00:00:00:00:0a");
    host.apply(host.plan(descriptor));
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
  }

  @Test
  void aGuestLiesNearItsGpuAndThePlanSaysWhy() throws Exception {
    Plan plan =
        host.plan(
            "graft: 1\nname: lab\n"
                + "gpus: [{name: a100, owner: \"guest:alice\", device: \"0000:65:00.0\"}]\n"
                + guest("placement: {numa: strict, huge-pages: 2MiB}"));
    assertThat(plan.notes())
        .contains("guest alice: NUMA node 1, near 0000:65:00.0, no memory of" + " other nodes");
    assertThat(DeviceHost.lines(plan))
        .contains("memory node1-2MiB: + have 512 huge pages of 2MiB on NUMA node 1");
    assertThat(String.valueOf(plan.toTree()))
        .contains("<memory mode='strict' nodeset='1'/>")
        .contains("<vcpupin cpuset='8-15' vcpu='0'/>")
        .contains("<page size='2048' unit='KiB'/>");
  }

  /** Dom0 has two CPUs and no nodes, whatever its kernel says of devices. */
  @Test
  void underXenAGuestLiesWhereXenSaysThatItsGpuIs() throws Exception {
    host.xen(
        """
        xen_version            : 4.17.5
        virt_caps              : pv hvm hvm_directio pv_directio
        cpu_topology           :
        cpu:    core    socket     node
          0:       0        0        0
          1:       0        0        0
          2:       0        1        1
         30:      14        1        1
        device topology        :
        device           node
        0000:65:00.0      1
        numa_info              :
        node:    memsize    memfree    distances
           0:      2048        612      10,20
           1:      2048       1800      20,10
        """);
    String gpu =
        "graft: 1\nname: lab\n"
            + "gpus: [{name: a100, owner: \"guest:alice\", device: \"0000:65:00.0\"}]\n"
            + "networks: [{name: lab, address: 192.168.160.1/24}]\n";
    String network = "networks: [lab]\n    ready: {when: off}\n";
    Plan plan = host.plan(gpu + guest(network));
    assertThat(plan.notes()).contains("guest alice: NUMA node 1, near 0000:65:00.0");
    assertThat(String.valueOf(plan.toTree()))
        .contains("<vcpupin cpuset='2,30' vcpu='0'/>")
        .doesNotContain("<numatune>");
    assertThat(host.plan(gpu + guest(network + "    placement: {pin: [30]}")).notes())
        .as("a CPU that dom0 has not")
        .contains("guest alice: NUMA node 1, near 0000:65:00.0, pinned to the CPUs 30");
    assertThatExceptionOfType(UnsupportedFeatureException.class)
        .isThrownBy(() -> host.plan(gpu + guest(network + "    placement: {numa: strict}")))
        .withMessageContaining("xen cannot give memory from chosen NUMA nodes (Xen takes memory");
    assertThatExceptionOfType(UnfitHostException.class)
        .isThrownBy(() -> host.plan(gpu + guest(network + "    placement: {pin: [3]}")))
        .withMessageContaining("the host has no CPU 3 (it has 0-2,30)");
  }

  @Test
  void aGuestThatWantsNoNodeLiesWhereItIsPinned() throws Exception {
    Plan plan =
        host.plan(
            "graft: 1\nname: lab\n"
                + guest(
                    "passthrough: [{pci: \"0000:65:00.0\"}]\n"
                        + "    placement: {numa: off, pin: [3], locked: true}"));
    assertThat(plan.notes()).contains("guest alice: numa: off, pinned to the CPUs 3");
    assertThat(String.valueOf(plan.toTree()))
        .contains("<vcpupin cpuset='3' vcpu='0'/>")
        .contains("<locked/>")
        .doesNotContain("<numatune>");
  }

  @Test
  void aGuestHasRoomForTheMemoryOfItsGpuAndDoesNotSeeThatItIsOne() throws Exception {
    String gpu = "graft: 1\nname: lab\n" + guest("passthrough: [{pci: \"0000:65:00.0\"}]");
    assertThat(String.valueOf(host.plan(gpu).toTree()))
        .as("SeaBIOS has no such window")
        .doesNotContain("X-PciMmio64Mb");
    String uefi = gpu + "    firmware: uefi\n    hide-hypervisor: true\n";
    assertThat(String.valueOf(host.plan(uefi).toTree()))
        .as("64 GiB of registers, twice")
        .contains("opt/ovmf/X-PciMmio64Mb,string=131072")
        .contains("<feature name='hypervisor' policy='disable'/>");
  }

  @Test
  void hugePagesGoAgainAndThoseOfOthersStay() throws Exception {
    host.fake.write(
        "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
        "10",
        java.time.Duration.ofSeconds(1));
    SortedMap<String, String> first = host.fake.state();
    String descriptor =
        "graft: 1\nname: lab\n"
            + "gpus: [{name: a100, owner: \"guest:alice\", device: \"0000:65:00.0\"}]\n"
            + guest("placement: {numa: strict, huge-pages: 2MiB}");
    host.apply(host.plan(descriptor));
    assertThat(pages()).isEqualTo("512");
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    host.undo("lab");
    assertThat(host.fake.state()).isEqualTo(first);
  }

  @Test
  void aFunctionThatAGuestHadStaysItsOwn() throws Exception {
    host.apply(host.plan(FABRIC + guest("vfs: [{adapter: ib0}, {adapter: ib0}]")));
    Plan plan = host.plan(FABRIC + guest("vfs: [{adapter: ib0}]"));
    assertThat(DeviceHost.lines(plan))
        .containsExactly(
            "guest alice: - undo: bind virtual function 1 of 'ib0', 0000:3b:00.2, to vfio-pci"
                + " (no longer in the descriptor)");
  }

  @Test
  void whatARebootTookIsMadeAgain() throws Exception {
    String descriptor = FABRIC + guest("vfs: [{adapter: ib0, index: 1}]");
    host.apply(host.plan(descriptor));
    reboot();
    assertThat(DeviceHost.lines(host.plan(descriptor)))
        .contains(
            "adapter ib0: + make 2 virtual functions of 0000:3b:00.0 (gone from the host)",
            "guest alice: + bind virtual function 1 of 'ib0', 0000:3b:00.2, to vfio-pci"
                + " (gone from the host)");
    host.apply(host.plan(descriptor));
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.read("/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs")).hasValue("0");
  }

  @Test
  void aDriverThatTookAFunctionBackIsSeen() throws Exception {
    String descriptor = FABRIC + guest("vfs: [{adapter: ib0, index: 1}]");
    host.apply(host.plan(descriptor));
    graft.sriov.operation.BindDriver.to(PciAddress.parse("0000:3b:00.2"), "mlx5_core")
        .apply(host.access);
    assertThat(DeviceHost.lines(host.plan(descriptor)))
        .containsExactly(
            "guest alice: + bind virtual function 1 of 'ib0', 0000:3b:00.2, to vfio-pci"
                + " (gone from the host)");
  }

  @Test
  void aMediatedDeviceIsMadeAndGoesAgain() throws Exception {
    String types = "/sys/bus/pci/devices/0000:65:00.0/mdev_supported_types/nvidia-474/";
    host.fake.file(types + "available_instances", "4").file(types + "create", "");
    SortedMap<String, String> first = host.fake.state();
    String uuid = "6f4f4f4f-0000-0000-0000-000000000001";
    String descriptor =
        "graft: 1\nname: lab\n"
            + guest("passthrough: [{mdev: " + uuid + ", of: \"0000:65:00.0\", type: nvidia-474}]");
    Plan plan = host.plan(descriptor);
    assertThat(plan.toText())
        .contains("+ make the mediated device " + uuid + " of 0000:65:00.0 (nvidia-474)")
        .contains("+ attach " + uuid);
    host.apply(plan);
    assertThat(host.fake.exists("/sys/bus/mdev/devices/" + uuid)).isTrue();
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    host.undo("lab");
    assertThat(host.fake.state()).isEqualTo(first);
  }

  @Test
  void aFunctionOfAGpuBecomesAnNvidiaVgpuAndIsNoneAgain() throws Exception {
    String vf = host.gpuFunction("66", "0");
    SortedMap<String, String> first = host.fake.state();
    String descriptor =
        "graft: 1\nname: lab\n" + guest("passthrough: [{pci: \"0000:66:00.1\", type: \"557\"}]");
    Plan plan = host.plan(descriptor);
    assertThat(plan.toText())
        .contains("+ make 0000:66:00.1 an NVIDIA vGPU of type 557")
        .contains("+ attach 0000:66:00.1")
        .doesNotContain("vfio-pci");
    host.apply(plan);
    assertThat(host.fake.read(vf + "current_vgpu_type")).hasValue("557");
    assertThat(host.claims()).containsKey("0000:66:00.1");
    assertThat(DeviceHost.lines(host.plan(descriptor))).isEmpty();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
    assertThat(host.claims()).isEmpty();
  }

  @Test
  void noFunctionsTakesThoseThatAreThereAway() throws Exception {
    host.apply(host.plan(FABRIC));
    host.journalIsLost("lab");
    SortedMap<String, String> first = host.fake.state();
    String none = FABRIC.replace("vfs: 2", "vfs: 0");
    Plan plan = host.plan(none);
    assertThat(DeviceHost.lines(plan))
        .containsExactly("adapter ib0: + remove the virtual functions of 0000:3b:00.0");
    host.apply(plan);
    assertThat(host.fake.read("/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs")).hasValue("0");
    assertThat(DeviceHost.lines(host.plan(none))).isEmpty();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).as("with their GUIDs and drivers").isEqualTo(first);
  }

  @Test
  void mlx4MakesItsFunctionsWhenItsModuleIsLoaded() throws Exception {
    host.fake.add(FakeDevice.mlx4("0000:05:00.0", 8)).reloadMlx4();
    String mlx4 =
        FABRIC.replace("mlx5_3b_0, vfs: 2", "mlx4_5_0, vfs: 2, link: infiniband")
            + guest("vfs: [{adapter: ib0}]");
    SortedMap<String, String> before = host.fake.state();

    Plan options = host.plan(mlx4);
    assertThat(options.toText())
        .contains("warning: the rest can only be planned once mlx4_core has been loaded again")
        .contains("modprobe -r mlx4_en mlx4_ib mlx4_core")
        .contains(
            "  module mlx4_core\n    + set its options: options mlx4_core num_vfs=2 probe_vf=0"
                + " port_type_array=1 (/etc/modprobe.d/graft-mlx4.conf)\n1 step\n");
    host.apply(options);
    assertThat(catchThrowable(() -> host.plan(mlx4)))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("its module was loaded before it had the options");

    host.fake.reloadMlx4();
    Plan rest = host.plan(mlx4);
    assertThat(DeviceHost.lines(rest))
        .anyMatch(line -> line.startsWith("guest alice: + bind virtual function 0 of 'ib0'"))
        .noneMatch(line -> line.startsWith("module"));
    host.apply(rest);
    assertThat(DeviceHost.lines(host.plan(mlx4))).isEmpty();

    assertThat(host.undo("lab")).isEmpty();
    host.fake.reloadMlx4();
    assertThat(host.fake.state()).isEqualTo(before);
  }

  @Test
  void anAdapterThatSaysNoNumberKeepsItsFunctions() throws Exception {
    host.apply(host.plan(FABRIC));
    host.journalIsLost("lab");
    assertThat(DeviceHost.lines(host.plan(FABRIC.replace(", vfs: 2", "")))).isEmpty();
  }

  @Test
  void anAdapterWithoutFunctionsInItsFirmwareHasNone() throws Exception {
    host.fake.add(FakeDevice.mlx5("0000:3c:00.0", 0));
    String none = FABRIC.replace("mlx5_3b_0, vfs: 2", "mlx5_3c_0, vfs: 0");
    assertThat(DeviceHost.lines(host.plan(none))).isEmpty();
  }

  private void reboot() {
    host.fake.settle();
    graft.sriov.operation.BindDriver.toNothing(
            PciAddress.parse("0000:3b:00.2"), java.util.Optional.empty())
        .apply(host.access);
    host.fake.write(
        "/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs", "0", java.time.Duration.ofSeconds(1));
    host.fake.file("/proc/sys/kernel/random/boot_id", "second");
  }

  private String pages() {
    return host.fake
        .read("/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages")
        .orElseThrow();
  }

  private static String guest(String rest) {
    return """
        guests:
          - name: alice
            image: debian.qcow2
            memory: 1GiB
            setup: none
            %s
        """
        .formatted(rest);
  }
}
