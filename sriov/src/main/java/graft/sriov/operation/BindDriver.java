package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.HostException;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.StubDriver;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.files.WriteFailedException;
import graft.sriov.files.WriteHangsException;
import graft.sriov.host.BlockDevices;
import graft.sriov.host.DeviceFiles;
import graft.sriov.host.HostProcessesReader;
import graft.sriov.vf.HostAccess;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Binds a device to a driver, or to none. {@code driver_override} is set during the change, so that
 * no other driver can bind the device in between, and so that a VF can be bound while its PF's
 * autoprobe is off.
 *
 * @param device the device
 * @param driver the driver, empty for none
 * @param override the final value of {@code driver_override}, empty for none
 */
public record BindDriver(PciAddress device, Optional<String> driver, Optional<String> override)
    implements DeviceChange {
  /**
   * Binds the device to vfio-pci for a guest of KVM. No other driver may bind the device
   * afterwards.
   */
  public static BindDriver toVfio(PciAddress device) {
    return toStub(device, StubDriver.VFIO);
  }

  /**
   * Binds the device to a stub driver for a guest. No other driver may bind the device afterwards.
   */
  public static BindDriver toStub(PciAddress device, StubDriver stub) {
    return new BindDriver(device, Optional.of(stub.driver()), Optional.of(stub.driver()));
  }

  /** Binds the device to a driver of the host. */
  public static BindDriver to(PciAddress device, String driver) {
    return new BindDriver(device, Optional.of(driver), Optional.empty());
  }

  /** Unbinds the device; the override stays. */
  public static BindDriver toNothing(PciAddress device, Optional<String> override) {
    return new BindDriver(device, Optional.empty(), override);
  }

  @Override
  public String describe() {
    return driver
        .map(name -> device + ": bind to " + name)
        .orElse(device + ": unbind from its driver");
  }

  @Override
  public boolean isDone(HostAccess host) {
    return driver(host.files(), device).equals(driver)
        && override(host.files(), device).equals(override);
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    return Saved.of(device, state(host.files(), device));
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    Sysfs files = host.files();
    requireThere(files);
    Optional<String> present = driver(files, device);
    try {
      if (!present.equals(driver)) {
        if (present.isPresent()) {
          refuseIfHeld(files);
        }
        if (driver.isPresent()) {
          requireLoaded(host, driver.get());
          setOverride(host, driver);
        }
        if (present.isPresent()) {
          requireLoaded(host, present.get());
          String unbind = PciPaths.driver(present.get(), "unbind");
          files.write(unbind, device.toString(), host.limits().bind());
        }
        if (driver.isPresent()) {
          bind(host, driver.get());
        }
      }
      setOverride(host, override);
    } catch (WriteHangsException e) {
      throw e.on(device.toString(), Holders.describe(files, device));
    }
    return Map.of();
  }

  private void bind(HostAccess host, String name) {
    try {
      host.files().write(PciPaths.driver(name, "bind"), device.toString(), host.limits().bind());
    } catch (WriteFailedException e) {
      // udev may have probed the device after the override was set. The device is then already
      // bound.
      if (!driver(host.files(), device).equals(Optional.of(name))) {
        throw e;
      }
    }
    Optional<String> now = driver(host.files(), device);
    if (!now.equals(Optional.of(name))) {
      throw new HostException(
          "binding to " + name + " reported success but it has " + now.orElse("no driver"),
          device.toString(),
          "Look at the kernel's log (dmesg)");
    }
  }

  private void setOverride(HostAccess host, Optional<String> wanted) {
    if (!override(host.files(), device).equals(wanted)) {
      // An empty line removes the override (Linux, ABI/testing/sysfs-bus-pci).
      host.files()
          .write(
              PciPaths.device(device, "driver_override"),
              wanted.orElse(""),
              host.limits().attribute());
    }
  }

  private void requireThere(Sysfs files) {
    if (!files.exists(PciPaths.device(device))) {
      throw new HostException(
          "there is no such device now",
          device.toString(),
          "Look where the VFs are (ls -l virtfn* in the PF's folder) and plan again");
    }
  }

  /**
   * A write to unbind waits in the driver until the last user has closed the device, and blocks the
   * caller.
   */
  private void refuseIfHeld(Sysfs files) {
    List<String> disks = BlockDevices.read(files).uses(files, device);
    if (!disks.isEmpty()) {
      throw new RefusedException(
          new Problem(
              device,
              "the host uses its disks: " + String.join(", ", disks),
              "Unmount them first"));
    }
    if (DeviceFiles.of(files, device).isEmpty()) {
      return;
    }
    Holders.find(files, new HostProcessesReader(files).read(), device)
        .ifPresent(
            holders -> {
              throw new RefusedException(
                  new Problem(
                      device,
                      "it is " + holders + ", and unbinding its driver would hang",
                      "Stop that process, or detach the device from its guest"));
            });
  }

  /**
   * While a module is being loaded, its driver can already bind devices but has no bind file yet
   * (bus_add_driver of drivers/base/bus.c creates the files last). Loading can take seconds.
   */
  private void requireLoaded(HostAccess host, String name) {
    Sysfs files = host.files();
    String bind = PciPaths.driver(name, "bind");
    Deadline deadline = Deadline.after(host.limits().bind());
    while (!files.exists(bind) && files.exists(PciPaths.DRIVERS + "/" + name)) {
      if (!deadline.sleep()) {
        throw new HostException(
            "the driver " + name + " has not finished loading",
            device.toString(),
            "Look at the kernel's log (dmesg), then try again");
      }
    }
    if (!files.exists(bind)) {
      throw new RefusedException(
          new Problem(
              device,
              "there is no driver " + name + " in the kernel",
              "Load it: modprobe " + StubDriver.moduleOf(name)));
    }
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    if (host.files().exists(PciPaths.device(device))) {
      new BindDriver(device, saved.value("driver"), saved.value("override")).apply(host);
      if (saved.value("slot").isEmpty()) {
        PcibackSlots.remove(host, device);
      }
    }
  }

  /** The device's driver, its override, and whether pciback's list contains the device. */
  static Map<String, String> state(Sysfs files, PciAddress device) {
    Map<String, String> values = new TreeMap<>();
    driver(files, device).ifPresent(name -> values.put("driver", name));
    override(files, device).ifPresent(name -> values.put("override", name));
    if (PcibackSlots.has(files, device)) {
      values.put("slot", "1");
    }
    return values;
  }

  static Optional<String> driver(Sysfs files, PciAddress device) {
    return files.linkName(PciPaths.device(device, "driver"));
  }

  static Optional<String> override(Sysfs files, PciAddress device) {
    return files
        .read(PciPaths.device(device, "driver_override"))
        .filter(text -> !text.isEmpty() && !text.equals("(null)"));
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": back to " + new Saved(before).value("driver").orElse("no driver");
  }
}
