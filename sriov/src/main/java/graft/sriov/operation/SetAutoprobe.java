package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Whether the kernel looks for a driver when a VF of a PF appears ({@code
 * sriov_drivers_autoprobe}). It is off while VFs are made, because a driver that takes a VF before
 * it has its GUIDs keeps the wrong ones.
 *
 * @param device the PF
 * @param on what to set
 */
public record SetAutoprobe(PciAddress device, boolean on) implements Operation {
  private static final String FILE = "sriov_drivers_autoprobe";

  @Override
  public String describe() {
    return device + ": driver autoprobe of VFs " + (on ? "on" : "off");
  }

  @Override
  public boolean done(HostAccess host) {
    return present(host, device).equals(text(on));
  }

  @Override
  public Before before(HostAccess host) {
    return new Before(getClass(), device, Map.of("autoprobe", present(host, device)));
  }

  @Override
  public void apply(HostAccess host) {
    if (!done(host)) {
      host.files().write(PciPaths.device(device, FILE), text(on), host.limits().attribute());
    }
  }

  static void undo(HostAccess host, PciAddress pf, Before before) {
    if (host.files().exists(PciPaths.device(pf, FILE))) {
      new SetAutoprobe(pf, before.number("autoprobe") == 1).apply(host);
    }
  }

  static boolean on(HostAccess host, PciAddress pf) {
    return present(host, pf).equals("1");
  }

  /** Kernels before 4.12 have no such file and always look. */
  private static String present(HostAccess host, PciAddress pf) {
    return host.files().read(PciPaths.device(pf, FILE)).orElse("1");
  }

  private static String text(boolean on) {
    return on ? "1" : "0";
  }
}
