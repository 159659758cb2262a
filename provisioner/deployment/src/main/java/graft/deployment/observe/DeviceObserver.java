package graft.deployment.observe;

import graft.common.values.Name;
import graft.common.values.PciAddress;
import graft.deployment.gpu.GpusForContainers;
import graft.deployment.observe.DeviceFacts.BootFacts;
import graft.deployment.observe.DeviceFacts.NvidiaVgpuFacts;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.DeviceClaims.Holder;
import graft.sriov.StubDriver;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.LentAdapter;
import graft.sriov.host.NumaNode;
import graft.sriov.host.PciDevice;
import graft.sriov.plan.HostState;
import graft.sriov.plan.Ledger;
import graft.sriov.vf.HostAccess;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Examines the host's devices, in one pass. */
public final class DeviceObserver {
  private static final String UNITS = "/etc/systemd/system/";
  private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";
  private static final String MEDIATED = "/sys/bus/mdev/devices";
  private static final String VGPU_TYPE = "nvidia/current_vgpu_type";
  private static final String VGPU_TYPES = "nvidia/creatable_vgpu_types";
  private static final Pattern VGPU_LINE = Pattern.compile("\\s*([0-9]{1,9})\\s*:\\s*(.*)");

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

  /**
   * The host now.
   *
   * @param libvirt called when the devices have been read
   */
  public DeviceFacts observe(Name setup, Known known, Supplier<LibvirtFacts> libvirt) {
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
    HostState devices = HostState.read(host, Ledger.EMPTY, settings);
    HostState state = devices.with(ledger(claimed, libvirt.get()));
    return new DeviceFacts(
        true,
        state,
        claimed,
        stubs(files),
        new TreeSet<>(files.list(MEDIATED)),
        nvidiaVgpus(state),
        GpusForContainers.read(files, state.pci().gpus()),
        LentAdapter.rdmaIsExclusive(files),
        NumaNode.readAll(files),
        new BootFacts(boot, files.exists("/run/systemd/system"), unit(setup)));
  }

  private static Set<StubDriver> stubs(Sysfs files) {
    Set<StubDriver> loaded = EnumSet.noneOf(StubDriver.class);
    for (StubDriver stub : StubDriver.values()) {
      if (files.exists(PciPaths.driver(stub.driver(), "bind"))) {
        loaded.add(stub);
      }
    }
    return loaded;
  }

  /** The holders of devices: Graft's claims, and the guests of others. */
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

  private Map<PciAddress, NvidiaVgpuFacts> nvidiaVgpus(HostState state) {
    Map<PciAddress, NvidiaVgpuFacts> nvidiaVgpus = new TreeMap<>();
    for (PciDevice device : state.pci().devices().values()) {
      if (device.isNvidiaGpu() && device.isVirtualFunction()) {
        host.files()
            .read(PciPaths.device(device.address(), VGPU_TYPE))
            .filter(text -> text.matches("[0-9]{1,9}"))
            .ifPresent(
                text ->
                    nvidiaVgpus.put(
                        device.address(),
                        new NvidiaVgpuFacts(Integer.parseInt(text), creatable(device.address()))));
      }
    }
    return nvidiaVgpus;
  }

  /** Parses lines of number and name below a heading. */
  private Map<Integer, String> creatable(PciAddress vf) {
    Map<Integer, String> types = new TreeMap<>();
    String text = host.files().read(PciPaths.device(vf, VGPU_TYPES)).orElse("");
    for (String line : text.split("\n", -1)) {
      Matcher matcher = VGPU_LINE.matcher(line);
      if (matcher.matches()) {
        types.put(Integer.valueOf(matcher.group(1)), matcher.group(2).strip());
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
