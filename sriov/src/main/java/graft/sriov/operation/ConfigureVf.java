package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.HostException;
import graft.sriov.VfSettings;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.VfControl;
import graft.sriov.vf.VfControls;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Sets the GUIDs, the link policy, the MAC, the trust and the rate of one VF. A driver that is
 * bound to the VF reads new GUIDs and a new MAC only when it is bound again.
 *
 * @param device the PF
 * @param index the VF's index, from 0
 * @param wanted the settings; empty settings stay unchanged
 * @param known the settings that an earlier change made, from a journal; they are used for settings
 *     that the driver does not report
 */
public record ConfigureVf(PciAddress device, int index, VfSettings wanted, VfSettings known)
    implements DeviceChange {
  private static final String SETTINGS = "settings.";

  @Override
  public String describe() {
    return device + ": VF " + index + " gets " + wanted;
  }

  @Override
  public boolean isDone(HostAccess host) {
    return missing(control(host, device)).isEmpty();
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    Map<String, String> values = new TreeMap<>(Map.of("index", Integer.toString(index)));
    Map<String, String> captured = new TreeMap<>(known.toMap());
    captured.putAll(control(host, device).capture(index));
    captured.forEach((name, value) -> values.put(SETTINGS + name, value));
    return Saved.of(device, values);
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    VfControl control = control(host, device);
    VfSettings missing = missing(control);
    if (!missing.isEmpty()) {
      control.set(index, missing);
    }
    return Map.of();
  }

  /**
   * Only settings that the driver reports count as done: settings from a journal may have been
   * lost.
   */
  private VfSettings missing(VfControl control) {
    VfSettings present =
        control
            .read(index)
            .orElseThrow(
                () ->
                    new HostException(
                        "there is no VF " + index, device.toString(), "Make the VFs first"));
    return control.through().able(wanted).notIn(present);
  }

  /** A VF that no longer exists has no settings to restore. */
  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    Optional<VfControl> control = VfControls.find(host, device);
    control.ifPresent(found -> found.restore(index, saved.below(SETTINGS)));
  }

  static VfControl control(HostAccess host, PciAddress pf) {
    return VfControls.find(host, pf)
        .orElseThrow(
            () ->
                new HostException(
                    "there is no way to set what belongs to its VFs: it has neither a network"
                        + " interface nor the files of the out-of-tree driver",
                    pf.toString(),
                    "Load ib_ipoib (modprobe ib_ipoib), or bind the PF to its driver"));
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": the settings of VF " + index + " as they were";
  }
}
