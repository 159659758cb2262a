package graft.sriov.fake;

import graft.common.values.PciAddress;
import graft.sriov.files.Errno;
import graft.sriov.files.PciPaths;
import graft.sriov.files.WriteFailedException;
import java.nio.file.Files;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The PCI core: adds and removes devices and handles writes to attributes. */
final class FakeKernel {
  private static final Pattern DEVICE_FILE =
      Pattern.compile(PciPaths.DEVICES + "/([0-9a-f:.]+)/([a-z_]+)");
  private static final Pattern DRIVER_FILE =
      Pattern.compile(
          PciPaths.DRIVERS + "/([^/]+)/(bind|unbind|new_id|remove_id|new_slot|remove_slot)");

  private static final Pattern MLX4_VFS = Pattern.compile("num_vfs=(\\d+)");

  private static final List<String> RESETS =
      List.of("device_specific", "acpi", "flr", "af_flr", "pm", "bus", "cxl_bus");

  final Tree tree;
  private final FakeDrivers drivers;
  private final SortedMap<PciAddress, FakeDevice> devices = new TreeMap<>();

  FakeKernel(Tree tree) {
    this.tree = tree;
    this.drivers = new FakeDrivers(this);
    tree.folder(PciPaths.DEVICES);
    tree.folder(PciPaths.DRIVERS);
    tree.folder("/sys/kernel/iommu_groups");
    tree.folder("/sys/module");
    tree.folder("/proc");
    tree.file("/sys/bus/pci/drivers_probe", "");
  }

  void loadDriver(String driver) {
    drivers.load(driver);
  }

  FakeDevice device(PciAddress address) {
    FakeDevice device = devices.get(address);
    if (device == null) {
      throw new IllegalArgumentException("no " + address + " in the fake host");
    }
    return device;
  }

  SortedMap<PciAddress, FakeDevice> devices() {
    return devices;
  }

  void process(int pid, String command, String... open) {
    tree.file("/proc/" + pid + "/comm", command);
    int fd = 3;
    for (String path : open) {
      tree.linkText("/proc/" + pid + "/fd/" + fd++, path);
    }
  }

  void add(FakeDevice device) {
    devices.put(device.address, device);
    String folder = realFolder(device);
    String bus = PciPaths.device(device.address);
    tree.folder(folder);
    tree.link(bus, folder);
    tree.file(folder + "/vendor", String.format("0x%04x", device.vendor));
    tree.file(folder + "/device", String.format("0x%04x", device.device));
    tree.file(folder + "/subsystem_vendor", String.format("0x%04x", device.vendor));
    tree.file(folder + "/subsystem_device", "0x0001");
    tree.file(folder + "/class", String.format("0x%06x", device.pciClass));
    tree.file(folder + "/numa_node", Integer.toString(device.numaNode));
    tree.file(folder + "/resource", device.resource);
    tree.file(folder + "/enable", "0");
    tree.file(folder + "/driver_override", "(null)");
    uevent(device, null);
    if (device.resetMethod != null) {
      tree.file(folder + "/reset_method", device.resetMethod);
    }
    if (device.pciClass >> 8 == 0x0300) {
      tree.file(folder + "/boot_vga", device.bootVga ? "1" : "0");
    }
    if (device.capable) {
      tree.file(folder + "/sriov_totalvfs", Integer.toString(device.totalVfs));
      tree.file(folder + "/sriov_numvfs", "0");
      tree.file(folder + "/sriov_offset", Integer.toString(device.offset));
      tree.file(folder + "/sriov_stride", Integer.toString(device.stride));
      tree.file(folder + "/sriov_vf_device", Integer.toHexString(device.vfDevice));
      tree.file(folder + "/sriov_drivers_autoprobe", "1");
    }
    if (!device.ungrouped) {
      joinGroup(device, folder);
    }
    if (device.driver != null) {
      String driver = device.driver;
      device.driver = null;
      drivers.load(driver);
      drivers.learn(driver, device);
      if (device.vfDriver != null) {
        drivers.load(device.vfDriver);
        drivers.learn(device.vfDriver, device.vf(0));
      }
      drivers.attach(driver, device);
      if (!device.numvfsWritable) {
        makeVfs(device, device.totalVfs);
      }
    }
  }

  /**
   * Uses the lowest free number, as the kernel's allocator does, but always the same number for a
   * VF, so that tests can compare states before and after VFs were removed.
   */
  private void joinGroup(FakeDevice device, String folder) {
    int group = 0;
    if (device.group != null) {
      group = device.group;
    } else if (device.isVf()) {
      group = 1000 + device.interfaceIndex();
    } else {
      while (Files.exists(tree.path("/sys/kernel/iommu_groups/" + group))) {
        group++;
      }
    }
    device.group = group;
    String groupFolder = "/sys/kernel/iommu_groups/" + group;
    tree.folder(groupFolder + "/devices");
    tree.link(folder + "/iommu_group", groupFolder);
    tree.link(groupFolder + "/devices/" + device.address, folder);
  }

  void remove(FakeDevice device) {
    if (device.driver != null) {
      drivers.detach(device);
    }
    tree.delete(PciPaths.device(device.address));
    tree.delete(realFolder(device));
    if (device.group != null) {
      String group = "/sys/kernel/iommu_groups/" + device.group;
      tree.delete(group + "/devices/" + device.address);
      String[] left = tree.path(group + "/devices").toFile().list();
      if (left == null || left.length == 0) {
        tree.delete(group);
      }
    }
    devices.remove(device.address);
  }

  String realFolder(FakeDevice device) {
    PciAddress at = device.address;
    StringBuilder folder = new StringBuilder("/sys/devices/pci");
    folder.append(at.toString(), 0, at.toString().indexOf(':')).append(":00");
    if (device.parent != null) {
      folder.append('/').append(device.parent);
    }
    return folder.append('/').append(at).toString();
  }

  void uevent(FakeDevice device, String driver) {
    StringBuilder text = new StringBuilder();
    if (driver != null) {
      text.append("DRIVER=").append(driver).append('\n');
    }
    text.append(String.format("PCI_CLASS=%X%n", device.pciClass))
        .append(String.format("PCI_ID=%04X:%04X%n", device.vendor, device.device))
        .append(String.format("PCI_SUBSYS_ID=%04X:0001%n", device.vendor))
        .append("PCI_SLOT_NAME=")
        .append(device.address);
    tree.file(realFolder(device) + "/uevent", text.toString());
  }

  /** Writes to an attribute; a file that is not an attribute just stores the value. */
  void write(String path, String value) {
    Matcher device = DEVICE_FILE.matcher(path);
    Matcher driver = DRIVER_FILE.matcher(path);
    if (path.equals("/sys/bus/pci/drivers_probe")) {
      drivers.probe(find(path, value));
    } else if (driver.matches()) {
      switch (driver.group(2)) {
        case "bind" -> drivers.bind(path, driver.group(1), find(path, value));
        case "unbind" -> drivers.unbind(path, driver.group(1), find(path, value));
        case "new_slot" -> FakePciback.add(tree, find(path, value).address);
        case "remove_slot" -> FakePciback.remove(tree, path, find(path, value).address);
        case "new_id" -> drivers.newId(driver.group(1), value);
        default -> drivers.removeId(driver.group(1), value);
      }
    } else if (device.matches()) {
      deviceFile(path, device(PciAddress.parse(device.group(1))), device.group(2), value);
    } else if (!FakeAdapters.write(this, path, value)
        && !FakeMediated.write(tree, path, value)
        && !FakeMemory.write(tree, path, value)) {
      tree.file(path, value);
    }
  }

  private void deviceFile(String path, FakeDevice device, String name, String value) {
    switch (name) {
      case "driver_override" -> tree.file(path, value.isEmpty() ? "(null)" : value);
      case "sriov_numvfs" -> setNumVfs(path, device, value);
      case "sriov_drivers_autoprobe" -> {
        if (!value.equals("0") && !value.equals("1")) {
          throw new WriteFailedException(path, value, Errno.EINVAL);
        }
        tree.file(path, value);
      }
      case "reset_method" -> {
        boolean standard = value.equals("default");
        for (String method : value.split(" ", -1)) {
          if (!standard && !RESETS.contains(method)) {
            throw new WriteFailedException(path, value, Errno.EINVAL);
          }
        }
        tree.file(path, standard ? device.resetMethod : value);
      }
      default -> throw new WriteFailedException(path, value, Errno.EACCES);
    }
  }

  /** sriov_numvfs_store in drivers/pci/iov.c. */
  private void setNumVfs(String path, FakeDevice pf, String value) {
    int wanted;
    try {
      wanted = Integer.parseUnsignedInt(value);
    } catch (NumberFormatException e) {
      throw new WriteFailedException(path, value, Errno.EINVAL);
    }
    if (wanted > pf.totalVfs) {
      throw new WriteFailedException(path, value, Errno.ERANGE);
    }
    int present = numVfs(pf);
    if (wanted == present) {
      return;
    }
    if (pf.driver == null || !pf.numvfsWritable) {
      throw new WriteFailedException(path, value, Errno.ENOENT);
    }
    if (wanted != 0 && present != 0) {
      throw new WriteFailedException(path, value, Errno.EBUSY);
    }
    if (wanted == 0) {
      removeVfs(pf);
    } else {
      makeVfs(pf, wanted);
    }
  }

  /** mlx4_load_one in drivers/net/ethernet/mellanox/mlx4/main.c: num_vfs applies to each PF. */
  void reloadMlx4() {
    Matcher option = MLX4_VFS.matcher(tree.text("/etc/modprobe.d/graft-mlx4.conf"));
    int wanted = option.find() ? Integer.parseInt(option.group(1)) : 0;
    for (FakeDevice pf : List.copyOf(devices.values())) {
      if (pf.capable && !pf.numvfsWritable) {
        removeVfs(pf);
        makeVfs(pf, Math.min(wanted, pf.totalVfs));
      }
    }
  }

  int numVfs(FakeDevice pf) {
    return (int) devices.values().stream().filter(one -> one.physicalFunction == pf).count();
  }

  boolean autoprobe(FakeDevice pf) {
    return tree.text(PciPaths.device(pf.address, "sriov_drivers_autoprobe")).equals("1");
  }

  private void makeVfs(FakeDevice pf, int count) {
    tree.file(PciPaths.device(pf.address, "sriov_numvfs"), Integer.toString(count));
    for (int i = 0; i < count; i++) {
      FakeDevice vf = pf.vf(i);
      add(vf);
      tree.link(realFolder(pf) + "/virtfn" + i, realFolder(vf));
      tree.link(realFolder(vf) + "/physfn", realFolder(pf));
      FakeAdapters.vfAppears(this, pf, vf);
      if (autoprobe(pf)) {
        drivers.probe(vf);
      }
    }
  }

  void removeVfs(FakeDevice pf) {
    for (int i = numVfs(pf) - 1; i >= 0; i--) {
      FakeAdapters.vfGoes(this, pf, i);
      tree.delete(realFolder(pf) + "/virtfn" + i);
      remove(device(pf.address.plus(pf.offset + pf.stride * i)));
    }
    tree.file(PciPaths.device(pf.address, "sriov_numvfs"), "0");
  }

  /** Adds the settings that the adapters keep for existing VFs. */
  void addVfSettings(SortedMap<String, String> state) {
    for (FakeDevice vf : devices.values()) {
      if (vf.isVf()) {
        state.put(
            "settings of " + vf.address,
            String.valueOf(vf.physicalFunction.vfSettings.get(vf.vfIndex)));
      }
    }
  }

  private FakeDevice find(String path, String value) {
    PciAddress address = PciAddress.tryParse(value).orElse(null);
    FakeDevice device = address == null ? null : devices.get(address);
    if (device == null) {
      throw new WriteFailedException(path, value, Errno.ENODEV);
    }
    return device;
  }
}
