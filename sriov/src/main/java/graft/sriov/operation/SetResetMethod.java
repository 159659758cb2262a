package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Sets the methods by which the kernel resets a device before and after a guest uses it ({@code
 * reset_method}; Linux, Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param device the device
 * @param methods names in the order in which the kernel tries them: {@code flr}, {@code bus},
 *     {@code pm}, {@code device_specific}
 */
public record SetResetMethod(PciAddress device, String methods) implements DeviceChange {
  private static final String FILE = "reset_method";

  @Override
  public String describe() {
    return device + ": reset by " + methods;
  }

  @Override
  public boolean isDone(HostAccess host) {
    return host.files().read(PciPaths.device(device, FILE)).orElse("").equals(methods);
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    return Saved.of(
        device,
        host.files()
            .read(PciPaths.device(device, FILE))
            .map(text -> Map.of("methods", text))
            .orElse(Map.of()));
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    if (!isDone(host)) {
      host.files().write(PciPaths.device(device, FILE), methods, host.limits().attribute());
    }
    return Map.of();
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    saved
        .value("methods")
        .filter(methods -> host.files().exists(PciPaths.device(device, FILE)))
        .ifPresent(methods -> new SetResetMethod(device, methods).apply(host));
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": reset by " + new Saved(before).value("methods").orElse("nothing") + " again";
  }
}
