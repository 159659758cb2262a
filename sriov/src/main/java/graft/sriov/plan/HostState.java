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
 * What planning looks at: a snapshot of the host, who holds what, and what a journal knows.
 *
 * @param pci the devices
 * @param settings what the PFs' drivers say about their VFs, by PF and index
 * @param known what a journal says was set for VFs, by PF and index; it counts where the driver
 *     says nothing or 0
 * @param ledger who has been given which device
 * @param uses what uses a device on the host now, in words; those in no use are left out
 * @param mlx4Options the files that give options to mlx4's module, with the lines that do; not
 *     looked for where the module is not loaded
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

  /** Reads a host on which nothing has been given away yet. */
  public static HostState read(HostAccess host) {
    return read(host, Ledger.EMPTY, Map.of());
  }

  /** The same with another ledger. */
  public HostState with(Ledger other) {
    return new HostState(pci, settings, known, other, uses, mlx4Options);
  }

  /** The settings of a VF: what its PF's driver says, else what the journal says. */
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
