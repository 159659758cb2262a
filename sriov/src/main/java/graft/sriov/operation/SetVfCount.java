package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.HostException;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.VfControl;
import graft.sriov.vf.VfControls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Sets the number of VFs of a PF. The kernel only accepts a change from 0 or to 0, so that any
 * other change goes through 0 and removes all VFs on the way. The change is refused while a guest
 * or a driver in user space has one of the VFs.
 *
 * @param device the PF
 * @param count the new number
 * @param known the settings of the present VFs by index, from a journal; undo restores them if the
 *     driver did not report them
 */
public record SetVfCount(PciAddress device, int count, Map<Integer, VfSettings> known)
    implements DeviceChange {
  private static final String FILE = "sriov_numvfs";

  public SetVfCount {
    known = Map.copyOf(known);
  }

  public SetVfCount(PciAddress device, int count) {
    this(device, count, Map.of());
  }

  @Override
  public String describe() {
    return device + ": " + count + " virtual functions";
  }

  @Override
  public boolean isDone(HostAccess host) {
    return present(host.files(), device) == count;
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    Map<String, String> values = new TreeMap<>();
    int present = present(host.files(), device);
    values.put("count", Integer.toString(present));
    values.put("autoprobe", SetAutoprobe.on(host, device) ? "1" : "0");
    Optional<VfControl> control = VfControls.find(host, device);
    for (int i = 0; i < present; i++) {
      String prefix = "vf." + i + ".";
      known
          .getOrDefault(i, VfSettings.NONE)
          .toMap()
          .forEach((name, value) -> values.put(prefix + "settings." + name, value));
      int index = i;
      control.ifPresent(
          found ->
              found
                  .capture(index)
                  .forEach((name, value) -> values.put(prefix + "settings." + name, value)));
      vf(host.files(), device, i)
          .ifPresent(
              vf ->
                  BindDriver.state(host.files(), vf)
                      .forEach((name, value) -> values.put(prefix + name, value)));
    }
    return Saved.of(device, values);
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    change(host, device, count);
    return Map.of();
  }

  /** Changes the number, through 0 if necessary, and checks that the kernel made the change. */
  private static void change(HostAccess host, PciAddress pf, int count) {
    int present = present(host.files(), pf);
    if (present == count) {
      return;
    }
    refuseIfInUse(host.files(), pf, present);
    String path = PciPaths.device(pf, FILE);
    if (present != 0) {
      host.files().write(path, "0", host.limits().forVfs(present));
    }
    if (count != 0) {
      host.files().write(path, Integer.toString(count), host.limits().forVfs(count));
    }
    int now = present(host.files(), pf);
    if (now != count) {
      throw new HostException(
          "asked for " + count + " VFs but it has " + now,
          pf.toString(),
          "Look at the kernel's log (dmesg)");
    }
  }

  private static void refuseIfInUse(Sysfs files, PciAddress pf, int present) {
    if (present == 0) {
      return;
    }
    VfUse use = new VfUse(files);
    List<Problem> problems = new ArrayList<>();
    for (int i = 0; i < present; i++) {
      vf(files, pf, i).flatMap(use::reason).ifPresent(problems::add);
    }
    RefusedException.throwIfAny(problems);
  }

  /**
   * Restores the VFs: number, settings, drivers. This method may run from any intermediate state.
   */
  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    Sysfs files = host.files();
    if (!files.exists(PciPaths.device(device, FILE))) {
      return;
    }
    int count = saved.number("count");
    if (present(files, device) != count) {
      // Autoprobe is off, so that no driver binds a VF before the VF has its settings.
      new SetAutoprobe(device, false).apply(host);
      change(host, device, count);
    }
    Optional<VfControl> control = VfControls.find(host, device);
    for (int i = 0; i < count; i++) {
      String prefix = "vf." + i + ".";
      int index = i;
      control.ifPresent(found -> found.restore(index, saved.below(prefix + "settings.")));
      vf(files, device, i)
          .ifPresent(
              vf ->
                  new BindDriver(
                          vf, saved.value(prefix + "driver"), saved.value(prefix + "override"))
                      .apply(host));
    }
    new SetAutoprobe(device, saved.number("autoprobe") == 1).apply(host);
  }

  private static int present(Sysfs files, PciAddress pf) {
    return files
        .read(PciPaths.device(pf, FILE))
        .map(Integer::parseInt)
        .orElseThrow(
            () ->
                new HostException(
                    "it has no SR-IOV capability",
                    pf.toString(),
                    "Turn SR-IOV on in its firmware and in the BIOS"));
  }

  static Optional<PciAddress> vf(Sysfs files, PciAddress pf, int index) {
    return files.linkName(PciPaths.device(pf, "virtfn" + index)).flatMap(PciAddress::tryParse);
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": back to " + new Saved(before).number("count") + " VFs as they were";
  }
}
