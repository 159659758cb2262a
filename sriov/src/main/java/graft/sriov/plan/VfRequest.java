package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.VfSettings;
import graft.sriov.host.RdmaPort.LinkLayer;
import java.util.Map;
import java.util.Optional;

/**
 * The VFs that a PF is to have.
 *
 * @param pf the PF
 * @param count the number of VFs
 * @param all settings for each VF: policy, trust, rate; no GUID and no MAC
 * @param each settings of single VFs by index, which take precedence over those for all VFs
 * @param guids the scheme for GUIDs that are not given; empty to make none. No GUIDs are made for a
 *     PF whose ports use Ethernet
 * @param drivers the driver of single VFs by index: {@code vfio-pci} for a guest, {@code mlx5_core}
 *     for the host; an existing VF without an entry stays unchanged, a new one gets no driver
 * @param link the protocol of the PF's ports, if the PF's module has an option for it (mlx4)
 */
public record VfRequest(
    PciAddress pf,
    int count,
    VfSettings all,
    Map<Integer, VfSettings> each,
    Optional<GuidScheme> guids,
    Map<Integer, String> drivers,
    Optional<LinkLayer> link) {
  public VfRequest {
    if (count < 0) {
      throw new IllegalArgumentException(pf + ": " + count + " VFs");
    }
    if (all.hasGuids() || all.mac().isPresent()) {
      throw new IllegalArgumentException(pf + ": one GUID or MAC for all VFs");
    }
    each = Map.copyOf(each);
    drivers = Map.copyOf(drivers);
  }

  /** A request for a number of VFs without further settings. */
  public static VfRequest of(PciAddress pf, int count) {
    return new VfRequest(
        pf, count, VfSettings.NONE, Map.of(), Optional.empty(), Map.of(), Optional.empty());
  }

  public VfRequest withAll(VfSettings settings) {
    return new VfRequest(pf, count, settings, each, guids, drivers, link);
  }

  public VfRequest withEach(Map<Integer, VfSettings> settings) {
    return new VfRequest(pf, count, all, settings, guids, drivers, link);
  }

  public VfRequest withGuids(GuidScheme scheme) {
    return new VfRequest(pf, count, all, each, Optional.of(scheme), drivers, link);
  }

  public VfRequest withDrivers(Map<Integer, String> wanted) {
    return new VfRequest(pf, count, all, each, guids, wanted, link);
  }

  public VfRequest withLink(LinkLayer wanted) {
    return new VfRequest(pf, count, all, each, guids, drivers, Optional.of(wanted));
  }
}
