package graft.sriov.fake;

import graft.sriov.files.Errno;
import graft.sriov.files.PciPaths;
import graft.sriov.files.WriteFailedException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The drivers: the devices that each driver matches, and the effect of binding. */
final class FakeDrivers {
  private final FakeKernel kernel;
  private final Map<String, Set<String>> ids = new TreeMap<>();

  FakeDrivers(FakeKernel kernel) {
    this.kernel = kernel;
  }

  void load(String driver) {
    if (ids.putIfAbsent(driver, new TreeSet<>()) != null) {
      return;
    }
    for (String file : new String[] {"bind", "unbind", "new_id", "remove_id"}) {
      kernel.tree.file(PciPaths.driver(driver, file), "");
    }
    kernel.tree.folder("/sys/module/" + driver.replace('-', '_'));
    if (driver.equals(FakePciback.NAME)) {
      FakePciback.load(kernel.tree);
    }
  }

  /** Adds the device's identifiers to the driver's table. */
  void learn(String driver, FakeDevice device) {
    ids.get(driver).add(id(device));
  }

  private static String id(FakeDevice device) {
    return String.format("%04x %04x", device.vendor, device.device);
  }

  /**
   * pci_match_device: only the driver that the override names matches, whatever the drivers' tables
   * contain.
   */
  private boolean matches(String driver, FakeDevice device) {
    String override = override(device);
    if (!override.equals("(null)")) {
      return override.equals(driver);
    }
    return driver.equals(FakePciback.NAME)
        ? FakePciback.has(kernel.tree, device.address)
        : ids.get(driver).contains(id(device));
  }

  /**
   * pci_device_can_probe: without autoprobe only the driver that the override names can bind a VF.
   */
  private boolean canProbe(FakeDevice device) {
    return !device.isVf()
        || kernel.autoprobe(device.physicalFunction)
        || !override(device).equals("(null)");
  }

  private String override(FakeDevice device) {
    return kernel.tree.text(PciPaths.device(device.address, "driver_override"));
  }

  /** bus_rescan_devices_helper: it is not an error if no driver matches. */
  void probe(FakeDevice device) {
    if (device.driver != null || !canProbe(device)) {
      return;
    }
    for (String driver : ids.keySet()) {
      if (matches(driver, device)) {
        attach(driver, device);
        return;
      }
    }
  }

  /** bind_store in drivers/base/bus.c. */
  void bind(String path, String driver, FakeDevice device) {
    String value = device.address.toString();
    if (device.driver != null) {
      throw new WriteFailedException(path, value, Errno.EBUSY);
    }
    if (!matches(driver, device) || !canProbe(device)) {
      throw new WriteFailedException(path, value, Errno.ENODEV);
    }
    if (driver.equals("vfio-pci") && device.group == null) {
      throw new WriteFailedException(path, value, Errno.EINVAL);
    }
    attach(driver, device);
  }

  /** unbind_store in drivers/base/bus.c. */
  void unbind(String path, String driver, FakeDevice device) {
    if (!driver.equals(device.driver)) {
      throw new WriteFailedException(path, device.address.toString(), Errno.ENODEV);
    }
    detach(device);
  }

  /** new_id: the driver binds all unbound devices that it now matches. */
  void newId(String driver, String value) {
    ids.get(driver).add(value.toLowerCase(java.util.Locale.ROOT));
    for (FakeDevice device : kernel.devices().values().toArray(new FakeDevice[0])) {
      if (device.driver == null && matches(driver, device) && canProbe(device)) {
        attach(driver, device);
      }
    }
  }

  void removeId(String driver, String value) {
    ids.get(driver).remove(value.toLowerCase(java.util.Locale.ROOT));
  }

  void attach(String driver, FakeDevice device) {
    device.driver = driver;
    String folder = kernel.realFolder(device);
    kernel.tree.link(folder + "/driver", PciPaths.DRIVERS + "/" + driver);
    kernel.tree.link(PciPaths.driver(driver, device.address.toString()), folder);
    kernel.tree.file(folder + "/enable", "1");
    kernel.uevent(device, driver);
    switch (driver) {
      case "vfio-pci" -> {
        if (device.group != null) {
          kernel.tree.file("/dev/vfio/" + device.group, "");
        }
      }
      case FakePciback.NAME -> FakePciback.seize(kernel.tree, device.address);
      case "nvidia" -> FakeGpus.attach(kernel, device);
      case "mlx5_core", "mlx4_core" -> FakeAdapters.attach(kernel, device);
      default -> {}
    }
  }

  void detach(FakeDevice device) {
    String driver = device.driver;
    String folder = kernel.realFolder(device);
    if (device.capable && kernel.numVfs(device) > 0) {
      kernel.removeVfs(device);
    }
    device.driver = null;
    switch (driver) {
      case "vfio-pci" -> {
        boolean last =
            kernel.devices().values().stream()
                .noneMatch(
                    other ->
                        "vfio-pci".equals(other.driver)
                            && java.util.Objects.equals(other.group, device.group));
        if (last && device.group != null) {
          kernel.tree.delete("/dev/vfio/" + device.group);
        }
      }
      case "nvidia" -> FakeGpus.detach(kernel, device);
      case "mlx5_core", "mlx4_core" -> FakeAdapters.detach(kernel, device);
      default -> {}
    }
    kernel.tree.delete(folder + "/driver");
    kernel.tree.delete(PciPaths.driver(driver, device.address.toString()));
    kernel.tree.file(folder + "/enable", "0");
    kernel.uevent(device, null);
  }
}
