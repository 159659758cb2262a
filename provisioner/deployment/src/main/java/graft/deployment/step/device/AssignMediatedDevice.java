package graft.deployment.step.device;

import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.DeviceClaims;
import graft.deployment.step.StepContext;
import graft.sriov.operation.CreateMediatedDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Assigns a mediated device, a share of a GPU, to a guest: claims it, and creates it where the
 * descriptor asks for that.
 *
 * @param setup the name of the deployment that the guest belongs to
 * @param uuid the device's name
 * @param share what it is made of; absent for a device that exists already
 * @param claims the folder of all claims
 */
public record AssignMediatedDevice(
    String guest, String setup, String uuid, Optional<Share> share, Path claims)
    implements AssignsDevice {

  /**
   * What a mediated device is made of.
   *
   * @param device the GPU, or its virtual function
   * @param type such as {@code nvidia-474}
   */
  public record Share(PciAddress device, String type) {}

  @Override
  public String assigned() {
    return uuid;
  }

  @Override
  public String describe() {
    return share
        .map(s -> "make the mediated device " + uuid + " of " + s.device() + " (" + s.type() + ")")
        .orElse("assign the mediated device " + uuid);
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    DeviceFacts devices = snapshot.devices();
    return devices.mediated().contains(uuid) && holder().equals(devices.claims().get(uuid));
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return create().map(change -> change.before(context.host())).orElse(Map.of());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    new DeviceClaims(claims).claim(uuid, holder());
    create().ifPresent(change -> change.apply(context.host()));
    return Map.of();
  }

  /** A device without the claim was not changed, or belongs to another guest by now. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    DeviceClaims all = new DeviceClaims(claims);
    if (holder().equals(all.all().get(uuid)) && !before.isEmpty()) {
      create().ifPresent(change -> change.undo(context.host(), before));
    }
    all.release(uuid, holder());
  }

  private Optional<CreateMediatedDevice> create() {
    return share.map(s -> new CreateMediatedDevice(s.device(), s.type(), UUID.fromString(uuid)));
  }
}
