package graft.provisioner.observe;

import graft.provisioner.observe.DeviceFacts.BootFacts;
import graft.provisioner.state.DeviceClaims;
import graft.provisioner.state.DeviceClaims.Holder;
import graft.provisioner.values.Name;
import graft.sriov.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.NumaNode;
import graft.sriov.host.PciDevice;
import graft.sriov.plan.HostState;
import graft.sriov.plan.Ledger;
import graft.sriov.vf.HostAccess;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Looks at the host's devices, in one pass. */
public final class DeviceObserver {
  private static final String UNITS = "/etc/systemd/system/";
  private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";
  private static final String MEDIATED = "/sys/bus/mdev/devices";
  private static final String VGPU_TYPE = "nvidia/current_vgpu_type";

  private final HostAccess host;
  private final Path claims;

  /**
   * An observer.
   *
   * @param claims the folder of all claims
   */
  public DeviceObserver(HostAccess host, Path claims) {
    this.host = host;
    this.claims = claims;
  }

  /** The host now. */
  public DeviceFacts observe(Name setup, Known known, LibvirtFacts libvirt) {
    Sysfs files = host.files();
    String boot = files.read(BOOT_ID).orElse("");
    Map<PciAddress, Map<Integer, VfSettings>> settings = new HashMap<>();
    for (Known.Function function : known.functions()) {
      if (function.boot().equals(boot)) {
        settings
            .computeIfAbsent(function.pf(), pf -> new HashMap<>())
            .put(function.index(), function.settings());
      }
    }
    Map<String, Holder> claimed = new DeviceClaims(claims).all();
    HostState state = HostState.read(host, ledger(claimed, libvirt), settings);
    return new DeviceFacts(
        true,
        state,
        claimed,
        files.exists(PciPaths.driver("vfio-pci", "bind")),
        new TreeSet<>(files.list(MEDIATED)),
        vgpuTypes(state),
        NumaNode.readAll(files),
        new BootFacts(boot, files.exists("/run/systemd/system"), unit(setup)));
  }

  /** What Graft gave away, and what guests of others have. */
  private static Ledger ledger(Map<String, Holder> claims, LibvirtFacts libvirt) {
    SortedMap<PciAddress, String> holders = new TreeMap<>();
    for (GuestFacts guest : libvirt.guests()) {
      for (String device : guest.devices()) {
        PciAddress.tryParse(device)
            .ifPresent(
                at -> holders.put(at, new Holder(guest.deployment(), guest.name()).toString()));
      }
    }
    claims.forEach(
        (device, holder) ->
            PciAddress.tryParse(device).ifPresent(at -> holders.put(at, holder.toString())));
    return new Ledger(holders);
  }

  private Map<PciAddress, Integer> vgpuTypes(HostState state) {
    Map<PciAddress, Integer> types = new TreeMap<>();
    for (PciDevice device : state.pci().devices().values()) {
      if (device.isNvidiaGpu() && device.isVirtualFunction()) {
        host.files()
            .read(PciPaths.device(device.address(), VGPU_TYPE))
            .filter(text -> text.matches("[0-9]{1,9}"))
            .ifPresent(text -> types.put(device.address(), Integer.valueOf(text)));
      }
    }
    return types;
  }

  private Optional<String> unit(Name setup) {
    String unit = "graft-" + setup + ".service";
    boolean begun = host.files().exists(UNITS + "multi-user.target.wants/" + unit);
    return begun ? host.files().read(UNITS + unit) : Optional.empty();
  }
}
