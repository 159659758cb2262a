package graft.deployment.observe;

import graft.common.values.PciAddress;
import graft.deployment.gpu.GpuForContainer;
import graft.deployment.state.DeviceClaims.Holder;
import graft.sriov.StubDriver;
import graft.sriov.host.BlockDevices;
import graft.sriov.host.HostPci;
import graft.sriov.host.HostProcesses;
import graft.sriov.host.NumaNode;
import graft.sriov.plan.HostState;
import graft.sriov.plan.Ledger;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The host's devices and NUMA nodes, and the claims on devices.
 *
 * @param looked whether the devices were examined; a deployment without devices does not need it
 * @param host the PCI and RDMA devices, with the journal's knowledge and the holders
 * @param claims the holders of devices that Graft assigned, by PCI address or UUID
 * @param stubs the loaded drivers for passthrough
 * @param mediated the UUIDs of the mediated devices that exist
 * @param nvidiaVgpus the virtual functions of GPUs that can be an NVIDIA vGPU
 * @param forContainers what containers need of the GPUs that are bound to NVIDIA's driver
 * @param rdmaIsExclusive whether each RDMA device belongs to one network namespace only
 * @param nodes the NUMA nodes
 * @param boot the boot of the host
 */
public record DeviceFacts(
    boolean looked,
    HostState host,
    Map<String, Holder> claims,
    Set<StubDriver> stubs,
    Set<String> mediated,
    Map<PciAddress, NvidiaVgpuFacts> nvidiaVgpus,
    Map<PciAddress, GpuForContainer> forContainers,
    boolean rdmaIsExclusive,
    List<NumaNode> nodes,
    BootFacts boot) {
  /** The devices were not examined. */
  public static final DeviceFacts NONE =
      new DeviceFacts(
          false,
          new HostState(
              new HostPci(
                  new TreeMap<>(),
                  List.of(),
                  List.of(),
                  Set.of(),
                  new HostProcesses(Map.of(), Set.of()),
                  new BlockDevices(Map.of(), Set.of())),
              new TreeMap<>(),
              Map.of(),
              Ledger.EMPTY,
              new TreeMap<>(),
              new TreeMap<>()),
          Map.of(),
          Set.of(),
          Set.of(),
          Map.of(),
          Map.of(),
          false,
          List.of(),
          new BootFacts("", false, Optional.empty()));

  /**
   * A virtual function of a GPU that can be an NVIDIA vGPU.
   *
   * @param type the number of its present type, 0 for none
   * @param creatable the types that the driver offers for it now: {@code 557: NVIDIA L40-1B}
   */
  public record NvidiaVgpuFacts(int type, Map<Integer, String> creatable) {}

  /**
   * The boot of the host.
   *
   * @param id of this boot; settings that a driver keeps in memory are lost at the next one
   * @param systemd whether systemd starts this host's services
   * @param unit the unit that applies this deployment when the host boots
   */
  public record BootFacts(String id, boolean systemd, Optional<String> unit) {}
}
