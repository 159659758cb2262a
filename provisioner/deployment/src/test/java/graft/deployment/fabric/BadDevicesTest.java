package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.bind.Problem;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.plan.UnfitHostException;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What cannot be is said with its place in the descriptor, before anything changes. */
class BadDevicesTest {
  private static final String IB0 =
      """
      fabric:
        persistent: false
        adapters:
          - {name: ib0, device: mlx5_3b_0, vfs: 2}
      """;

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private DeviceHost host;

  @BeforeEach
  void aHost() {
    host = new DeviceHost(folder);
    host.fake
        .node(0, "0-3", 8192)
        .node(1, "4-7", 8192)
        .add(FakeDevice.mlx5("0000:3b:00.0", 4))
        .add(FakeDevice.gpu("0000:65:00.0").numa(1));
    host.fake.takeLog();
  }

  @Test
  void twoGuestsThatClaimOneDevice() {
    assertThat(
            wrong(
                guest("passthrough: [{pci: \"0000:65:00.0\"}]")
                    + other("passthrough: [{pci: \"65:00.0\"}]")))
        .containsExactly("lab.yaml:13:25: 0000:65:00.0 is claimed already (see lab.yaml:8:25)");
  }

  @Test
  void aDeviceOfAGuestThatGraftDidNotMake() {
    host.foreignGuest("windows", "0000:65:00.0");
    assertThat(wrong(guest("passthrough: [{pci: \"0000:65:00.0\"}]")))
        .containsExactly(
            "lab.yaml:8:25: 0000:65:00.0: the guest 'windows' has it, so the guest 'alice' of the"
                + " deployment 'lab' cannot have it too (Detach it from the guest 'windows' first, or"
                + " give the guest 'alice' of the deployment 'lab' another device)");
  }

  @Test
  void aFunctionOutOfRange() {
    assertThat(wrong(IB0 + guest("vfs: [{adapter: ib0, index: 2}]")))
        .containsExactly(
            "lab.yaml:12:33: there is no virtual function 2: 'ib0' has 2 (raise 'vfs' of the"
                + " adapter)");
  }

  @Test
  void moreFunctionsThanThereAre() {
    assertThat(wrong(IB0 + guest("vfs: [{adapter: ib0}, {adapter: ib0}, {adapter: ib0}]")))
        .containsExactly(
            "lab.yaml:12:53: the adapter 'ib0' has no free virtual function for the guest 'alice':"
                + " all 2 are assigned or in use (raise 'vfs' of the adapter)");
  }

  @Test
  void guidsThatAreGivenTwice() {
    assertThat(wrong(functions("node-guid: \"0a:00:00:00:00:00:00:01\"")))
        .containsExactly(
            "lab.yaml:10:33: the GUID 0a:00:00:00:00:00:00:01 is given twice (see"
                + " lab.yaml:9:33)");
  }

  @Test
  void guidsThatThePhysicalFunctionHas() {
    assertThat(
            wrong(
                functions("node-guid: \"0c:42:a1:03:00:00:3b:00\"")
                    .replaceFirst("(?m)^.*index: 1.*\n", "")))
        .containsExactly(
            "lab.yaml:9:11: VF 0 of 0000:3b:00.0: its node GUID 0c:42:a1:03:00:00:3b:00 is also that"
                + " of mlx5_3b_0 (Give each its own, or have GUIDs made by leaving them out)");
  }

  @Test
  void guidsThatAreMulticast() {
    assertThat(wrong(functions("port-guid: \"01:00:00:00:00:00:00:01\"")))
        .hasSize(2)
        .first()
        .asString()
        .startsWith(
            "lab.yaml:9:33: 'port-guid': the GUID 01:00:00:00:00:00:00:01 is a multicast identifier");
  }

  @Test
  void aGpuThatDrivesTheDisplay() {
    host.fake.add(FakeDevice.gpu("0000:66:00.0").pciClass(0x030000).bootVga());
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.0\"}]")))
        .containsExactly(
            "lab.yaml:8:25: 0000:66:00.0: it drives the host's display (boot_vga) (Choose another"
                + " GPU, or make another adapter the primary display in the BIOS)");
  }

  @Test
  void aGpuThatTheHostUses() {
    host.fake.process(77, "python3", "/dev/nvidia0");
    assertThat(wrong(guest("passthrough: [{pci: \"0000:65:00.0\"}]")))
        .containsExactly(
            "lab.yaml:8:25: 0000:65:00.0: it is in use: open in python3 (process 77, /dev/nvidia0)"
                + " (Stop what uses it first)");
  }

  @Test
  void anAdapterWhoseFirmwareHasNoFunctions() {
    host.fake.add(FakeDevice.mlx5("0000:3c:00.0", 0));
    assertThat(wrong(IB0.replace("3b", "3c") + guest("")))
        .containsExactly(
            "lab.yaml:6:43: 0000:3c:00.0: its firmware offers no virtual functions (Run: mlxconfig"
                + " -d 0000:3c:00.0 set SRIOV_EN=1 NUM_OF_VFS=2 LINK_TYPE_P1=1; then mlxfwreset -d"
                + " 0000:3c:00.0 reset (or reboot); and turn SR-IOV on in the BIOS)");
  }

  @Test
  void moreFunctionsThanTheFirmwareAllows() {
    assertThat(wrong(IB0.replace("vfs: 2", "vfs: 9") + guest("")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:6:43: 0000:3b:00.0: 9 VFs asked for, but its firmware allows 4");
  }

  @Test
  void aFunctionOfAHostWithoutAnIommu() {
    DeviceHost without = new DeviceHost(folder.resolve("without"));
    without.fake.add(FakeDevice.mlx5("0000:3b:00.0", 4).withoutGroup());
    host = without;
    assertThat(wrong(IB0 + guest("vfs: [{adapter: ib0}]")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:12:21: 0000:3b:00.1: the host has no IOMMU in use");
  }

  @Test
  void aDeviceOfAHostWithoutAnIommu() {
    host.fake.add(FakeDevice.gpu("0000:66:00.0").withoutGroup());
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.0\"}]")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:8:25: 0000:66:00.0: the host has no IOMMU in use");
  }

  @Test
  void aGroupSharedWithABridge() {
    host.fake
        .add(FakeDevice.bridge("0000:00:03.0").group(7))
        .add(FakeDevice.gpu("0000:66:00.0").group(7));
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.0\"}]")))
        .singleElement()
        .asString()
        .startsWith(
            "lab.yaml:8:25: 0000:66:00.0: its IOMMU group 7 also holds the bridge 0000:00:03.0");
  }

  @Test
  void aGroupSharedWithADeviceOfTheHost() {
    host.fake
        .add(FakeDevice.at("0000:67:00.0").driver("e1000e").group(8))
        .add(FakeDevice.gpu("0000:66:00.0").group(8));
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.0\"}]")))
        .singleElement()
        .asString()
        .startsWith(
            "lab.yaml:8:25: 0000:66:00.0: IOMMU group 8 is not viable: it also holds 0000:67:00.0"
                + " [8086:1000] e1000e, which the host uses (Give 0000:67:00.0 to the guest 'alice'");
  }

  @Test
  void functionsThatWouldVanishUnderAGuest() throws Exception {
    String made = IB0 + guest("vfs: [{adapter: ib0}]");
    host.apply(host.plan("graft: 1\nname: lab\n" + made));
    host.fake.takeLog();
    assertThat(wrong(made.replace("vfs: 2", "vfs: 4")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:6:43: 0000:3b:00.1: it belongs to the guest 'alice'");
  }

  @Test
  void anAdapterThatIsNotThere() {
    assertThat(wrong(IB0.replace("mlx5_3b_0", "mlx5_3b_1") + guest("")))
        .containsExactly(
            "lab.yaml:6:27: this host has no RDMA device named 'mlx5_3b_1' (did you mean"
                + " 'mlx5_3b_0'?)");
  }

  @Test
  void aPortThatSpeaksSomethingElse() {
    assertThat(wrong(IB0.replace("vfs: 2", "vfs: 2, link: ethernet") + guest("")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:6:52: the port of mlx5_3b_0 speaks InfiniBand, not Ethernet");
  }

  @Test
  void settingsThatAnInfinibandPortDoesNotTake() {
    assertThat(wrong(functions("trust: true")))
        .first()
        .asString()
        .startsWith("lab.yaml:9:11: 0000:3b:00.0: VF 0: netlink on ibp59s0f0 cannot set trusted");
  }

  @Test
  void aGuestThatFitsOnNoNode() {
    assertThat(
            wrong(
                guest("passthrough: [{pci: \"0000:65:00.0\"}]\n    placement: {numa: strict}")
                    .replace("memory: 1GiB", "memory: 9GiB\n    cpus: 6")))
        .containsExactly(
            "lab.yaml:7:13: NUMA node 1 has 8GiB free for 9GiB (give the guest less, or write numa:"
                + " auto)",
            "lab.yaml:8:11: NUMA node 1 has 4 CPUs for 6 (give the guest fewer, or write numa:"
                + " auto)");
  }

  @Test
  void hugePagesThatThereIsNoMemoryFor() {
    assertThat(
            wrong(guest("placement: {huge-pages: 1GiB}").replace("memory: 1GiB", "memory: 16GiB")))
        .containsExactly(
            "lab.yaml:8:29: NUMA node 0 has 8GiB free for 16 more huge pages of 1GiB (give the"
                + " guests less memory, or spread them over the nodes)");
  }

  @Test
  void pinsOnCpusThatTheHostDoesNotHave() {
    assertThat(wrong(guest("placement: {pin: [9]}")))
        .containsExactly("lab.yaml:8:22: the host has no CPU 9 (it has 0-7)");
  }

  @Test
  void aMigInstance() {
    assertThat(wrong(guest("passthrough: [{mig: MIG-1}]")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:8:25: a MIG instance has no PCI function of its own");
  }

  @Test
  void aMediatedDeviceOfATypeThatIsNotOffered() {
    String uuid = "6f4f4f4f-0000-0000-0000-000000000001";
    assertThat(
            wrong(
                guest("passthrough: [{mdev: " + uuid + ", of: \"0000:65:00.0\", type: nvidia-1}]")))
        .singleElement()
        .asString()
        .contains("0000:65:00.0 offers no mediated devices of type nvidia-1");
  }

  @Test
  void aFunctionThatIsNoNvidiaVgpu() {
    assertThat(wrong(guest("passthrough: [{pci: \"0000:65:00.0\", type: \"557\"}]")))
        .containsExactly(
            "lab.yaml:8:25: 0000:65:00.0 takes no NVIDIA vGPU type (load NVIDIA's vGPU host driver and make"
                + " the GPU's functions (sriov-manage -e))");
  }

  @Test
  void anNvidiaVgpuOfATypeThatTheGpuCannotMake() {
    host.gpuFunction("66", "0");
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.1\", type: \"700\"}]")))
        .containsExactly(
            "lab.yaml:8:47: 0000:66:00.1 cannot be an NVIDIA vGPU of type 700 (it can be one of"
                + " {557=NVIDIA L40-1B, 558=NVIDIA L40-2B})");
  }

  @Test
  void anNvidiaVgpuOfAGuestThatGraftDidNotMake() {
    host.gpuFunction("66", "557");
    host.foreignGuest("windows", "0000:66:00.1");
    assertThat(wrong(guest("passthrough: [{pci: \"0000:66:00.1\", type: \"557\"}]")))
        .containsExactly(
            "lab.yaml:8:25: 0000:66:00.1 belongs to the guest 'windows' (assign another function of the GPU to the guest)");
  }

  @Test
  void aHostThatCannotBindToVfio() {
    host.fake.deleteFile("/sys/bus/pci/drivers/vfio-pci");
    assertThat(wrong(guest("passthrough: [{pci: \"0000:65:00.0\"}]")))
        .containsExactly(
            "lab.yaml:8:25: vfio-pci is not loaded, so no device can be bound to it"
                + " (modprobe vfio-pci)");
  }

  @Test
  void somebodyWhoIsNotRoot() {
    host.notRoot();
    assertThat(wrong(guest("passthrough: [{pci: \"0000:65:00.0\"}]")))
        .anyMatch(line -> line.endsWith("only root can change the host's devices (be root)"));
  }

  /** All that is said against a descriptor; nothing may have been written. */
  private List<String> wrong(String text) {
    Throwable e = catchThrowable(() -> host.plan("graft: 1\nname: lab\n" + text));
    assertThat(e).as("a plan is refused").isNotNull();
    assertThat(host.fake.takeLog()).as("nothing changed").isEmpty();
    List<Problem> problems =
        e instanceof UnfitHostException unfit
            ? unfit.problems()
            : ((InvalidDescriptorException) e).problems();
    return problems.stream().map(p -> p.toString().replace("/d/", "")).toList();
  }

  private static String functions(String setting) {
    return """
        fabric:
          adapters:
            - name: ib0
              device: mlx5_3b_0
              vfs: 2
              virtual-functions:
                - {index: 0, %s}
                - {index: 1, %s}
        """
        .formatted(setting, setting);
  }

  private static String guest(String rest) {
    return """
        guests:
          - name: alice
            image: debian.qcow2
            setup: none
            memory: 1GiB
            %s
        """
        .formatted(rest);
  }

  /** A guest more, below the first. */
  private static String other(String rest) {
    return guest(rest).replace("guests:\n", "").replace("alice", "bob");
  }
}
