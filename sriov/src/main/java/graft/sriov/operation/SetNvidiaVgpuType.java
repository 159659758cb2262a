package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Sets the NVIDIA vGPU type of a GPU's virtual function, for hosts on which NVIDIA's vGPU driver
 * uses SR-IOV (NVIDIA vGPU Software User Guide: {@code nvidia/current_vgpu_type}).
 *
 * @param device the GPU's virtual function
 * @param type the number of the type in {@code nvidia/creatable_vgpu_types}; 0 for none
 */
public record SetNvidiaVgpuType(PciAddress device, int type) implements DeviceChange {
  private static final String FILE = "nvidia/current_vgpu_type";

  @Override
  public String describe() {
    return device + (type == 0 ? ": no vGPU" : ": NVIDIA vGPU of type " + type);
  }

  @Override
  public boolean isDone(HostAccess host) {
    return present(host, device).equals(Integer.toString(type));
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    return Saved.of(device, Map.of("type", present(host, device)));
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    if (isDone(host)) {
      return Map.of();
    }
    if (!host.files().exists(PciPaths.device(device, FILE))) {
      throw new RefusedException(
          new Problem(
              device,
              "it takes no NVIDIA vGPU type",
              "Load NVIDIA's vGPU host driver and make the GPU's VFs (sriov-manage -e)"));
    }
    host.files().write(PciPaths.device(device, FILE), Integer.toString(type), host.limits().bind());
    return Map.of();
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    if (host.files().exists(PciPaths.device(device, FILE))) {
      new SetNvidiaVgpuType(device, saved.number("type")).apply(host);
    }
  }

  private static String present(HostAccess host, PciAddress vf) {
    return host.files().read(PciPaths.device(vf, FILE)).orElse("0");
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": NVIDIA vGPU of type " + new Saved(before).number("type") + " again";
  }
}
