package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.VfControls;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The input of planning: a snapshot of the host, the holders of its devices, and the settings in a
 * journal.
 *
 * @param pci the devices
 * @param settings the settings of VFs that the PFs' drivers report, by PF and index
 * @param known the settings of VFs that a journal recorded, by PF and index; they are used for
 *     settings that the driver does not report or reports as 0
 * @param ledger the holders of the devices
 * @param uses descriptions of how the host uses each device now; devices that are not in use are
 *     absent
 * @param mlx4Options the files with options of mlx4's module, each with the relevant lines; empty
 *     if the module is not loaded
 */
public record HostState(
    HostPci pci,
    SortedMap<PciAddress, List<VfSettings>> settings,
    Map<PciAddress, Map<Integer, VfSettings>> known,
    Ledger ledger,
    SortedMap<PciAddress, List<String>> uses,
    SortedMap<String, String> mlx4Options) {

  /** Reads a host. */
  public static HostState read(
      HostAccess host, Ledger ledger, Map<PciAddress, Map<Integer, VfSettings>> known) {
    Sysfs files = host.files();
    HostPci pci = HostPci.read(files);
    SortedMap<PciAddress, List<String>> uses = new TreeMap<>();
    for (PciDevice device : pci.devices().values()) {
      List<String> found = pci.uses(files, device);
      if (!found.isEmpty()) {
        uses.put(device.address(), found);
      }
    }
    SortedMap<String, String> options =
        pci.modules().contains(Mlx4Options.MODULE) ? Mlx4Options.read(files) : new TreeMap<>();
    return new HostState(pci, VfControls.readAll(host, pci), known, ledger, uses, options);
  }

  /** Reads a host, none of whose devices is assigned yet. */
  public static HostState read(HostAccess host) {
    return read(host, Ledger.EMPTY, Map.of());
  }

  /** A copy with another ledger. */
  public HostState with(Ledger other) {
    return new HostState(pci, settings, known, other, uses, mlx4Options);
  }

  /** The settings of a VF: those that its PF's driver reports, else those in the journal. */
  public VfSettings settingsOf(PciAddress pf, int index) {
    List<VfSettings> all = settings.getOrDefault(pf, List.of());
    VfSettings present = index < all.size() ? all.get(index) : VfSettings.NONE;
    return present.or(knownOf(pf).getOrDefault(index, VfSettings.NONE));
  }

  Map<Integer, VfSettings> knownOf(PciAddress pf) {
    return known.getOrDefault(pf, Map.of());
  }

  PciFunction function(PciDevice device) {
    return new PciFunction(device, pci.rdmaOf(device.address()));
  }
}
