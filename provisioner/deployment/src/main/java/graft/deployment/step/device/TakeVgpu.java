package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts.VgpuFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.DeviceClaims.Holder;
import graft.deployment.step.StepContext;
import graft.sriov.operation.SetVgpuType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Takes a virtual function of an NVIDIA GPU for a guest, as a vGPU: claims it and says which type
 * of vGPU it is. It stays with NVIDIA's driver, which hands it to the guest itself.
 *
 * @param setup the set-up that the guest belongs to
 * @param device the GPU's virtual function
 * @param type the number of the type
 * @param claims the folder of all claims
 */
public record TakeVgpu(String guest, String setup, PciAddress device, int type, Path claims)
    implements AssignsDevice {
  @Override
  public String assigned() {
    return device.toString();
  }

  @Override
  public String describe() {
    return "make " + device + " a vGPU of type " + type;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    VgpuFacts vgpu = snapshot.devices().vgpus().get(device);
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

  /** Without the claim it was not changed either, or belongs to somebody else by now. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    DeviceClaims all = new DeviceClaims(claims);
    if (holder().equals(all.all().get(device.toString())) && !before.isEmpty()) {
      change().undo(context.host(), before);
    }
    all.release(device.toString(), holder());
  }

  private SetVgpuType change() {
    return new SetVgpuType(device, type);
  }

  private Holder holder() {
    return new Holder(setup, guest);
  }
}
