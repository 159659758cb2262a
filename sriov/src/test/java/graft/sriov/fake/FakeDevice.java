package graft.sriov.fake;

import graft.common.values.PciAddress;
import graft.sriov.VfSettings;
import java.util.HashMap;
import java.util.Map;

/** A device of the fake host; the fluent setters prepare it for {@link FakeSysfs#add}. */
public final class FakeDevice {
  final PciAddress address;
  PciAddress parent;
  int vendor = 0x8086;
  int device = 0x1000;
  int pciClass = 0x088000;
  int numaNode;
  Integer group;
  boolean ungrouped;
  String resource = "0x0000000090000000 0x0000000090ffffff 0x0000000000040200";
  String driver;
  String resetMethod = "flr bus";
  boolean bootVga;

  // Physical functions
  boolean capable;
  int totalVfs;
  int offset = 1;
  int stride = 1;
  int vfDevice;
  String vfDriver;
  boolean numvfsWritable = true;
  boolean ofed;
  boolean ethernet;
  long nodeGuid;
  String rdmaName;
  String netName;

  // Virtual functions
  FakeDevice physicalFunction;
  int vfIndex = -1;

  /**
   * The settings that the PF's driver keeps for each VF; mlx5 applies them to VFs that are created
   * again.
   */
  final Map<Integer, VfSettings> vfSettings = new HashMap<>();

  private FakeDevice(PciAddress address) {
    this.address = address;
  }

  /** A device of no particular kind without a driver. */
  public static FakeDevice at(String address) {
    return new FakeDevice(PciAddress.parse(address));
  }

  /**
   * A ConnectX-6 adapter's function under the mainline mlx5 driver, which accepts GUIDs by netlink.
   */
  public static FakeDevice mlx5(String address, int totalVfs) {
    FakeDevice pf = at(address);
    pf.vendor = 0x15b3;
    pf.device = 0x101b;
    pf.pciClass = 0x020700;
    pf.capable = totalVfs > 0;
    pf.totalVfs = totalVfs;
    pf.vfDevice = 0x101c;
    pf.driver = "mlx5_core";
    pf.vfDriver = "mlx5_core";
    pf.resource = "0x00002ffffe000000 0x00002fffffffffff 0x000000000014220c";
    PciAddress at = pf.address;
    pf.nodeGuid = 0x0c42a10300000000L | (long) at.bus() << 8 | (at.device() << 3 | at.function());
    pf.rdmaName = "mlx5_" + Integer.toHexString(at.bus()) + "_" + at.function();
    pf.netName = "ibp" + at.bus() + "s" + at.device() + "f" + at.function();
    return pf;
  }

  /** A ConnectX-3 under mlx4: the module's options create the VFs, whose number cannot change. */
  public static FakeDevice mlx4(String address, int vfs) {
    FakeDevice pf = mlx5(address, vfs);
    pf.device = 0x1003;
    pf.vfDevice = 0x1004;
    pf.driver = "mlx4_core";
    pf.vfDriver = "mlx4_core";
    pf.numvfsWritable = false;
    pf.rdmaName = pf.rdmaName.replace("mlx5", "mlx4");
    return pf;
  }

  /** A data-centre GPU: a 3D controller with 64 GiB. */
  public static FakeDevice gpu(String address) {
    FakeDevice gpu = at(address);
    gpu.vendor = 0x10de;
    gpu.device = 0x20b0;
    gpu.pciClass = 0x030200;
    gpu.driver = "nvidia";
    gpu.resetMethod = "flr bus";
    gpu.resource =
        "0x00000000b0000000 0x00000000b0ffffff 0x0000000000040200\n"
            + "0x0000202000000000 0x0000202fffffffff 0x000000000014220c";
    return gpu;
  }

  public static FakeDevice bridge(String address) {
    FakeDevice bridge = at(address);
    bridge.pciClass = 0x060400;
    bridge.driver = "pcieport";
    bridge.resetMethod = null;
    return bridge;
  }

  public FakeDevice ids(int vendorId, int deviceId) {
    vendor = vendorId;
    device = deviceId;
    return this;
  }

  public FakeDevice pciClass(int value) {
    pciClass = value;
    return this;
  }

  public FakeDevice under(String bridge) {
    parent = PciAddress.parse(bridge);
    return this;
  }

  public FakeDevice numa(int node) {
    numaNode = node;
    return this;
  }

  /** Puts the device into that group; the default is the next free one. */
  public FakeDevice group(int number) {
    group = number;
    return this;
  }

  /** The device has no group, as on a host without an IOMMU. */
  public FakeDevice withoutGroup() {
    ungrouped = true;
    return this;
  }

  public FakeDevice driver(String name) {
    driver = name;
    return this;
  }

  public FakeDevice bootVga() {
    bootVga = true;
    return this;
  }

  public FakeDevice resetMethod(String methods) {
    resetMethod = methods;
    return this;
  }

  /** Adds an SR-IOV capability to a device that is not a ConnectX adapter. */
  public FakeDevice sriov(int total, int vfId, String driverOfVfs) {
    capable = true;
    totalVfs = total;
    vfDevice = vfId;
    vfDriver = driverOfVfs;
    return this;
  }

  /** Uses NVIDIA's out-of-tree driver, which accepts GUIDs by files in the {@code sriov} folder. */
  public FakeDevice ofed() {
    ofed = true;
    return this;
  }

  /** Lets the ports use Ethernet. */
  public FakeDevice ethernet() {
    ethernet = true;
    pciClass = 0x020000;
    netName = "ens" + address.bus() + "f" + address.function();
    return this;
  }

  boolean isVf() {
    return physicalFunction != null;
  }

  boolean connectx() {
    return vendor == 0x15b3;
  }

  /** The VF of a PF, with the settings that the PF's driver keeps for the VF. */
  FakeDevice vf(int index) {
    FakeDevice vf = new FakeDevice(address.plus(offset + stride * index));
    vf.parent = parent;
    vf.vendor = vendor;
    vf.device = vfDevice;
    vf.pciClass = pciClass;
    vf.numaNode = numaNode;
    vf.ungrouped = ungrouped;
    vf.resource = "0x00002ffffd000000 0x00002ffffd0fffff 0x000000000014220c";
    vf.ethernet = ethernet;
    vf.physicalFunction = this;
    vf.vfIndex = index;
    if (rdmaName != null) {
      vf.rdmaName = rdmaName + "v" + index;
      vf.netName = netName + "v" + index;
    }
    return vf;
  }

  int interfaceIndex() {
    return (address.bus() << 8 | address.device() << 3 | address.function()) + 2;
  }
}
