package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.files.PciPaths;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A share of a device for a guest, made by the device's driver: a mediated device (Linux,
 * Documentation/driver-api/vfio-mediated-device.rst). Only a mediated device that this has made is
 * taken away again.
 *
 * @param device the physical device
 * @param type one of its {@code mdev_supported_types}, such as {@code nvidia-105}
 * @param uuid the new device's name
 */
public record CreateMediatedDevice(PciAddress device, String type, UUID uuid) implements Operation {
  private static final String DEVICES = "/sys/bus/mdev/devices/";

  @Override
  public String describe() {
    return device + ": mediated device " + uuid + " of type " + type;
  }

  @Override
  public boolean done(HostAccess host) {
    return exists(host, uuid.toString());
  }

  @Override
  public Before before(HostAccess host) {
    return new Before(
        getClass(),
        device,
        Map.of("uuid", uuid.toString(), "present", Boolean.toString(done(host))));
  }

  @Override
  public void apply(HostAccess host) {
    if (done(host)) {
      return;
    }
    String folder = PciPaths.device(device, "mdev_supported_types/" + type);
    if (!host.files().exists(folder)) {
      throw new RefusedException(
          new Problem(
              device.toString(),
              "it offers no mediated devices of type " + type,
              "It offers "
                  + host.files().list(PciPaths.device(device, "mdev_supported_types"))
                  + "; for NVIDIA's the vGPU host driver has to be loaded"));
    }
    if (host.files().read(folder + "/available_instances").orElse("").equals("0")) {
      throw new RefusedException(
          new Problem(
              device.toString(),
              "no instance of type " + type + " is left",
              "Take another type or device, or free an instance"));
    }
    host.files().write(folder + "/create", uuid.toString(), host.limits().bind());
  }

  static void undo(HostAccess host, Before before) {
    String uuid = before.value("uuid").orElseThrow();
    if (before.value("present").equals(Optional.of("false")) && exists(host, uuid)) {
      host.files().write(DEVICES + uuid + "/remove", "1", host.limits().bind());
    }
  }

  private static boolean exists(HostAccess host, String uuid) {
    return host.files().exists(DEVICES + uuid);
  }
}
