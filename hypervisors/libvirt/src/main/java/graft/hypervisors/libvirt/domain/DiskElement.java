package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <disk>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#hard-drives-floppy-disks-cdroms">libvirt</a>
 */
public final class DiskElement {

  private DiskElement() {}

  /**
   * Appends a disk.
   *
   * @param driver libvirt's name of the disk driver, {@code qemu}
   * @param device the disk's name in the guest, {@code vda}
   * @param bus the bus, such as {@code virtio}
   */
  public static Element append(
      Element devices, DiskSpec spec, String driver, String device, String bus) {
    Element disk = Xml.add(devices, "disk");
    Element driverElement = Xml.add(disk, "driver");
    driverElement.setAttribute("name", driver);
    driverElement.setAttribute("type", spec.format().xmlName());
    Element source = Xml.add(disk, "source");
    if (spec.source() instanceof DiskSpec.ImageFile file) {
      disk.setAttribute("type", "file");
      source.setAttribute("file", file.path());
    } else if (spec.source() instanceof DiskSpec.BlockDevice block) {
      disk.setAttribute("type", "block");
      source.setAttribute("dev", block.path());
    } else if (spec.source() instanceof DiskSpec.PoolVolume volume) {
      disk.setAttribute("type", "volume");
      source.setAttribute("pool", volume.pool());
      source.setAttribute("volume", volume.volume());
    }
    disk.setAttribute("device", spec.kind() == DiskSpec.Kind.CDROM ? "cdrom" : "disk");
    Element target = Xml.add(disk, "target");
    target.setAttribute("dev", device);
    target.setAttribute("bus", bus);
    if (spec.readOnly()) {
      Xml.add(disk, "readonly");
    }
    spec.serial().ifPresent(serial -> Xml.add(disk, "serial").setTextContent(serial));
    return disk;
  }
}
