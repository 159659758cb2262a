package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Sets whether the kernel looks for a driver when a VF of a PF appears ({@code
 * sriov_drivers_autoprobe}). Autoprobe is off while VFs are created, because a driver that binds a
 * VF before the VF has its GUIDs keeps the wrong GUIDs.
 *
 * @param device the PF
 * @param on the new value
 */
public record SetAutoprobe(PciAddress device, boolean on) implements DeviceChange {
  private static final String FILE = "sriov_drivers_autoprobe";

  @Override
  public String describe() {
    return device + ": driver autoprobe of VFs " + (on ? "on" : "off");
  }

  @Override
  public boolean isDone(HostAccess host) {
    return present(host, device).equals(text(on));
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    return Saved.of(device, Map.of("autoprobe", present(host, device)));
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    if (!isDone(host)) {
      host.files().write(PciPaths.device(device, FILE), text(on), host.limits().attribute());
    }
    return Map.of();
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    if (host.files().exists(PciPaths.device(device, FILE))) {
      new SetAutoprobe(device, saved.number("autoprobe") == 1).apply(host);
    }
  }

  static boolean on(HostAccess host, PciAddress pf) {
    return present(host, pf).equals("1");
  }

  /** Kernels before 4.12 lack this file and always look for a driver. */
  private static String present(HostAccess host, PciAddress pf) {
    return host.files().read(PciPaths.device(pf, FILE)).orElse("1");
  }

  private static String text(boolean on) {
    return on ? "1" : "0";
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device
        + ": driver autoprobe of VFs "
        + (new Saved(before).number("autoprobe") == 1 ? "on" : "off")
        + " again";
  }
}
