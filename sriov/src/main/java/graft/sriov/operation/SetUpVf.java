package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.HostException;
import graft.sriov.VfSettings;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Sets the settings of a VF so that they take effect: a driver that is bound to the VF reads new
 * GUIDs and a new MAC only when it is bound again, so that the driver is unbound during the change.
 *
 * @param device the PF
 * @param index the VF's index, from 0
 * @param settings the settings; empty settings stay unchanged
 */
public record SetUpVf(PciAddress device, int index, VfSettings settings) implements DeviceChange {
  @Override
  public String describe() {
    return device + ": VF " + index + " gets " + settings;
  }

  @Override
  public boolean isDone(HostAccess host) {
    return find(host).isPresent() && configure().isDone(host);
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    Map<String, Object> before = new TreeMap<>(configure().before(host));
    before.putAll(BindDriver.state(host.files(), function(host)));
    return before;
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    PciAddress vf = function(host);
    if (!configure().isDone(host)) {
      Optional<BindDriver> again = Optional.empty();
      Optional<String> driver = BindDriver.driver(host.files(), vf);
      Optional<String> override = BindDriver.override(host.files(), vf);
      if (settings.hasAddress() && driver.isPresent()) {
        again = Optional.of(new BindDriver(vf, driver, override));
        BindDriver.toNothing(vf, override).apply(host);
      }
      configure().apply(host);
      again.ifPresent(bind -> bind.apply(host));
    }
    return Map.of();
  }

  /** A VF that no longer exists has no settings to restore. */
  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Optional<PciAddress> vf = find(host);
    if (vf.isEmpty()) {
      return;
    }
    if (settings.hasAddress() && BindDriver.driver(host.files(), vf.get()).isPresent()) {
      BindDriver.toNothing(vf.get(), Optional.empty()).apply(host);
    }
    configure().undo(host, before);
    BindDriver.toNothing(vf.get(), Optional.empty()).undo(host, before);
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return configure().describeUndo(before);
  }

  private ConfigureVf configure() {
    return new ConfigureVf(device, index, settings, VfSettings.NONE);
  }

  private Optional<PciAddress> find(HostAccess host) {
    return SetVfCount.vf(host.files(), device, index);
  }

  private PciAddress function(HostAccess host) {
    return find(host)
        .orElseThrow(
            () ->
                new HostException(
                    "it has no virtual function " + index + " now",
                    device.toString(),
                    "apply again"));
  }
}
