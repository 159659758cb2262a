package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Creates a mediated device: a share of a device for a guest, created by the device's driver
 * (Linux, Documentation/driver-api/vfio-mediated-device.rst). Undo removes only a mediated device
 * that this change created.
 *
 * @param device the physical device
 * @param type one of the device's {@code mdev_supported_types}, such as {@code nvidia-105}
 * @param uuid the new device's name
 */
public record CreateMediatedDevice(PciAddress device, String type, UUID uuid)
    implements DeviceChange {
  private static final String DEVICES = "/sys/bus/mdev/devices/";

  @Override
  public String describe() {
    return device + ": mediated device " + uuid + " of type " + type;
  }

  @Override
  public boolean isDone(HostAccess host) {
    return exists(host, uuid.toString());
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    return Saved.of(
        device, Map.of("uuid", uuid.toString(), "present", Boolean.toString(isDone(host))));
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    if (isDone(host)) {
      return Map.of();
    }
    String folder = PciPaths.device(device, "mdev_supported_types/" + type);
    if (!host.files().exists(folder)) {
      throw new RefusedException(
          new Problem(
              device,
              "it offers no mediated devices of type " + type,
              "It offers "
                  + host.files().list(PciPaths.device(device, "mdev_supported_types"))
                  + "; for NVIDIA's the vGPU host driver has to be loaded"));
    }
    if (host.files().read(folder + "/available_instances").orElse("").equals("0")) {
      throw new RefusedException(
          new Problem(
              device,
              "no instance of type " + type + " is left",
              "Take another type or device, or free an instance"));
    }
    host.files().write(folder + "/create", uuid.toString(), host.limits().bind());
    return Map.of();
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    if (saved.value("present").equals(Optional.of("false")) && exists(host, uuid.toString())) {
      host.files().write(DEVICES + uuid + "/remove", "1", host.limits().bind());
    }
  }

  private static boolean exists(HostAccess host, String uuid) {
    return host.files().exists(DEVICES + uuid);
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return device + ": mediated device " + uuid + " as it was";
  }
}
