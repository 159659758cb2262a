package graft.sriov.host;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.host.RdmaPort.LinkLayer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostPciTest {
  private static final PciAddress PF = PciAddress.parse("0000:3b:00.0");
  private static final PciAddress GPU = PciAddress.parse("0000:41:00.0");

  @TempDir private Path root;
  private FakeSysfs fake;

  @BeforeEach
  void aHostWithAnAdapterAndAGpu() {
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(FakeDevice.bridge("0000:3a:00.0").group(1))
            .add(FakeDevice.mlx5("0000:3b:00.0", 8).under("0000:3a:00.0").numa(1).group(7))
            .add(FakeDevice.gpu("0000:41:00.0").group(9).numa(-1))
            .add(FakeDevice.at("0000:41:00.1").ids(0x10de, 0x10f0).group(9));
  }

  @Test
  void aDeviceIsReadWithItsIdentityPlaceAndBars() {
    PciDevice gpu = HostPci.read(fake).device(GPU).orElseThrow();

    assertThat(gpu.vendor()).isEqualTo(0x10de);
    assertThat(gpu.device()).isEqualTo(0x20b0);
    assertThat(gpu.pciClass()).isEqualTo(0x030200);
    assertThat(gpu.isNvidiaGpu()).isTrue();
    assertThat(gpu.driver()).contains("nvidia");
    assertThat(gpu.driverOverride()).isEmpty();
    assertThat(gpu.iommuGroup()).contains(new IommuGroup(9));
    assertThat(gpu.numaNode()).isEqualTo(OptionalInt.empty());
    assertThat(gpu.resetMethods()).containsExactly("flr", "bus");
    assertThat(gpu.enabled()).isTrue();
    assertThat(gpu.bars())
        .containsExactly(
            new Bar(0, 0xb0000000L, MemorySize.ofMib(16), false, false, false),
            new Bar(1, 0x202000000000L, MemorySize.ofGib(64), false, true, true));
  }

  @Test
  void anAdapterIsReadWithItsPortsInterfacesAndCapability() {
    HostPci host = HostPci.read(fake);
    PciDevice pf = host.device(PF).orElseThrow();

    assertThat(pf.parent()).contains(PciAddress.parse("0000:3a:00.0"));
    assertThat(pf.numaNode()).hasValue(1);
    assertThat(pf.sriov()).contains(new SriovCapability(8, 0, 1, 1, true, List.of()));
    assertThat(pf.interfaces()).hasSize(1);
    assertThat(pf.interfaces().get(0).infiniband()).isTrue();
    RdmaDevice rdma = host.rdmaOf(PF).get(0);
    assertThat(rdma.nodeGuid()).hasToString("Optional[0c:42:a1:03:00:00:3b:00]");
    assertThat(rdma.firmware()).isEqualTo("20.31.1014");
    assertThat(rdma.ports())
        .containsExactly(
            new RdmaPort(
                1,
                "ACTIVE",
                "LinkUp",
                LinkLayer.INFINIBAND,
                "100 Gb/sec (4X EDR)",
                1,
                2,
                List.of("fe80:0000:0000:0000:0c42:a103:0000:3b00")));
  }

  @Test
  void virtualFunctionsAreLinkedBothWays() {
    fake.write("/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs", "3", Duration.ofSeconds(1));

    HostPci host = HostPci.read(fake);
    List<PciAddress> vfs = host.device(PF).orElseThrow().sriov().orElseThrow().vfs();
    assertThat(vfs).containsExactly(PF.plus(1), PF.plus(2), PF.plus(3));
    assertThat(vfs)
        .allSatisfy(
            vf -> {
              PciDevice device = host.device(vf).orElseThrow();
              assertThat(device.physicalFunction()).contains(PF);
              assertThat(device.driver()).contains("mlx5_core");
            });
    assertThat(host.rdmaOf(PF.plus(1)).get(0).nodeGuid())
        .as("a VF whose GUID nobody set says 0, which is none")
        .isEmpty();
  }

  @Test
  void slotsAndGroupsAreWhole() {
    HostPci host = HostPci.read(fake);
    assertThat(host.slot(GPU)).extracting(PciDevice::address).containsExactly(GPU, GPU.plus(1));
    assertThat(host.members(new IommuGroup(9)))
        .extracting(PciDevice::address)
        .containsExactly(GPU, GPU.plus(1));
    assertThat(host.hasIommu()).isTrue();
  }

  @Test
  void whoUsesAGpuIsFoundByTheFilesThatProcessesHaveOpen() {
    fake.process(812, "python3", "/dev/nvidiactl", "/dev/nvidia0", "anon_inode:[eventfd]")
        .process(813, "nvidia-cuda-mps", "/dev/nvidiactl")
        .process(814, "qemu-system-x86", "/dev/vfio/vfio", "/dev/vfio/9")
        .file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "DeviceFileMinor: 12");

    Duration second = Duration.ofSeconds(1);
    fake.write("/sys/bus/pci/devices/0000:41:00.1/driver_override", "vfio-pci", second);
    fake.write("/sys/bus/pci/drivers_probe", "0000:41:00.1", second);

    HostPci host = HostPci.read(fake);
    assertThat(DeviceFiles.users(fake, host.processes(), GPU))
        .as("the group's file holds only what vfio-pci has")
        .containsExactly(new DeviceUser(812, "python3", "/dev/nvidia0"));
    assertThat(DeviceFiles.users(fake, host.processes(), GPU.plus(1)))
        .extracting(DeviceUser::command)
        .containsExactly("qemu-system-x86");
    assertThat(host.processes().mps()).isTrue();
    assertThat(host.modules()).contains("nvidia", "mlx5_core", "vfio_pci");
    NvidiaGpu gpu = host.gpus().get(0);
    assertThat(gpu.address()).isEqualTo(GPU);
    assertThat(gpu.minor()).isEqualTo(0);
    assertThat(gpu.migInstances()).containsExactly("gi1/ci0");
    assertThat(gpu.uuid()).startsWith("GPU-");
  }

  @Test
  void anEmptyRootIsAHostWithoutAnything() {
    HostPci host = HostPci.read(new graft.sriov.files.RootFolder(root.resolve("nothing")));
    assertThat(host.devices()).isEmpty();
    assertThat(host.rdma()).isEmpty();
    assertThat(host.hasIommu()).isFalse();
    assertThat(host.device(GPU)).isEqualTo(Optional.empty());
  }

  @Test
  void brokenFilesAreAsGoodAsAbsent() {
    fake.file("/sys/bus/pci/devices/0000:41:00.0/resource", "garbage")
        .file("/sys/bus/pci/devices/0000:41:00.0/numa_node", "")
        .file("/sys/bus/pci/devices/0000:3b:00.0/infiniband/mlx5_3b_0/node_guid", "what");
    HostPci host = HostPci.read(fake);
    assertThat(host.device(GPU).orElseThrow().bars()).isEmpty();
    assertThat(host.rdmaOf(PF).get(0).nodeGuid()).isEmpty();
  }
}
