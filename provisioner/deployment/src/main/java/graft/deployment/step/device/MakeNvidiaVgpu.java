package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts.NvidiaVgpuFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.step.StepContext;
import graft.sriov.operation.SetNvidiaVgpuType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Assigns a virtual function of an NVIDIA GPU to a guest as an NVIDIA vGPU: claims it and sets its
 * type. The function stays bound to NVIDIA's driver, which passes it to the guest.
 *
 * @param setup the name of the deployment that the guest belongs to
 * @param device the GPU's virtual function
 * @param type the number of the type
 * @param claims the folder of all claims
 */
public record MakeNvidiaVgpu(String guest, String setup, PciAddress device, int type, Path claims)
    implements AssignsDevice {
  @Override
  public String assigned() {
    return device.toString();
  }

  @Override
  public String describe() {
    return "make " + device + " an NVIDIA vGPU of type " + type;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    NvidiaVgpuFacts vgpu = snapshot.devices().nvidiaVgpus().get(device);
    return vgpu != null
        && vgpu.type() == type
        && holder().equals(snapshot.devices().claims().get(device.toString()));
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return change().before(context.host());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    new DeviceClaims(claims).claim(device.toString(), holder());
    change().apply(context.host());
    return Map.of();
  }

  /** A function without the claim was not changed, or belongs to another guest by now. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    DeviceClaims all = new DeviceClaims(claims);
    if (holder().equals(all.all().get(device.toString())) && !before.isEmpty()) {
      change().undo(context.host(), before);
    }
    all.release(device.toString(), holder());
  }

  private SetNvidiaVgpuType change() {
    return new SetNvidiaVgpuType(device, type);
  }
}
