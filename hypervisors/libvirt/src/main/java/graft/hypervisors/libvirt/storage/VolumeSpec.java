package graft.hypervisors.libvirt.storage;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.Optional;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * A volume to be made in a storage pool.
 *
 * @param capacity what a guest sees; with a backing store at least that one's, or zero to take it
 * @param backing an image that it starts from and does not change
 * @see <a href="https://libvirt.org/formatstorage.html">libvirt: storage volume XML</a>
 */
public record VolumeSpec(
    String name, MemorySize capacity, DiskSpec.Format format, Optional<Backing> backing) {

  public VolumeSpec {
    if (backing.isPresent() && format != DiskSpec.Format.QCOW2) {
      throw new IllegalArgumentException(
          "volume '" + name + "' is " + format.xmlName() + ": only qcow2 has a backing store");
    }
  }

  /**
   * An image below a volume.
   *
   * @param path on the host that runs libvirt
   */
  public record Backing(String path, DiskSpec.Format format) {}

  public static VolumeSpec raw(String name, MemorySize capacity) {
    return new VolumeSpec(name, capacity, DiskSpec.Format.RAW, Optional.empty());
  }

  public static VolumeSpec qcow2(String name, MemorySize capacity) {
    return new VolumeSpec(name, capacity, DiskSpec.Format.QCOW2, Optional.empty());
  }

  public static VolumeSpec overlay(String name, MemorySize capacity, Backing backing) {
    return new VolumeSpec(name, capacity, DiskSpec.Format.QCOW2, Optional.of(backing));
  }

  public Document toXml() {
    Document document = Xml.newDocument("volume");
    Element volume = document.getDocumentElement();
    Xml.add(volume, "name", name);
    Xml.add(volume, "allocation", "0");
    Xml.add(volume, "capacity", Long.toString(capacity.bytes()));
    format(Xml.add(volume, "target"), format);
    backing.ifPresent(
        image -> {
          Element store = Xml.add(volume, "backingStore");
          Xml.add(store, "path", image.path());
          format(store, image.format());
        });
    return document;
  }

  private static void format(Element parent, DiskSpec.Format format) {
    Xml.add(parent, "format").setAttribute("type", format.xmlName());
  }
}
