package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * How the kernel resets a device before and after a guest has it ({@code reset_method}; Linux,
 * Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param device which
 * @param methods names in the order in which they are tried: {@code flr}, {@code bus}, {@code pm},
 *     {@code device_specific}
 */
public record SetResetMethod(PciAddress device, String methods) implements Operation {
  private static final String FILE = "reset_method";

  @Override
  public String describe() {
    return device + ": reset by " + methods;
  }

  @Override
  public boolean done(HostAccess host) {
    return host.files().read(PciPaths.device(device, FILE)).orElse("").equals(methods);
  }

  @Override
  public Before before(HostAccess host) {
    return new Before(
        getClass(),
        device,
        host.files()
            .read(PciPaths.device(device, FILE))
            .map(text -> Map.of("methods", text))
            .orElse(Map.of()));
  }

  @Override
  public void apply(HostAccess host) {
    if (!done(host)) {
      host.files().write(PciPaths.device(device, FILE), methods, host.limits().attribute());
    }
  }

  static void undo(HostAccess host, PciAddress device, Before before) {
    before
        .value("methods")
        .filter(methods -> host.files().exists(PciPaths.device(device, FILE)))
        .ifPresent(methods -> new SetResetMethod(device, methods).apply(host));
  }
}
