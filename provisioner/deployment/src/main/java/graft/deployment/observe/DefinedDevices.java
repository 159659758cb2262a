package graft.deployment.observe;

import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.w3c.dom.Element;

/**
 * A definition that Graft wrote, and the devices in it that could be attached while the guest runs.
 *
 * @param cards its network cards
 * @param disks its disks beside the one that it boots and its seed
 * @param targets the names in the guest of all of its disks
 * @param rest the definition without these devices, and without what is no reason for a restart:
 *     the number of PCI ports, and the names of other disks, which follow from the number of disks
 */
public record DefinedDevices(
    List<Element> cards, List<Element> disks, List<String> targets, String rest) {
  private static final String PREFIX = "disk-";
  private static final String SUFFIX = ".qcow2";

  /** The name of the file of a disk. */
  public static String fileName(String disk) {
    return PREFIX + disk + SUFFIX;
  }

  /** The name of the disk in such a file. */
  public static String name(String file) {
    String name = Path.of(file).getFileName().toString();
    return name.substring(PREFIX.length(), name.length() - SUFFIX.length());
  }

  public static DefinedDevices of(String xml) {
    Element domain = Xml.parse(xml).getDocumentElement();
    List<Element> cards = new ArrayList<>();
    List<Element> disks = new ArrayList<>();
    List<String> targets = new ArrayList<>();
    List<Element> ports = new ArrayList<>();
    for (Element devices : Xml.children(domain, "devices")) {
      cards.addAll(Xml.children(devices, "interface"));
      for (Element disk : Xml.children(devices, "disk")) {
        Xml.find(disk, "target").ifPresent(target -> targets.add(target.getAttribute("dev")));
        String name = file(disk).replaceFirst(".*/", "");
        if (name.startsWith(PREFIX) && name.endsWith(SUFFIX)) {
          disks.add(disk);
        }
      }
      Xml.children(devices, "controller").stream()
          .filter(controller -> controller.getAttribute("type").equals("pci"))
          .forEach(ports::add);
    }
    for (List<Element> group : List.of(cards, disks, ports)) {
      group.forEach(element -> element.getParentNode().removeChild(element));
    }
    for (Element devices : Xml.children(domain, "devices")) {
      for (Element disk : Xml.children(devices, "disk")) {
        Xml.find(disk, "target").ifPresent(target -> target.removeAttribute("dev"));
      }
    }
    return new DefinedDevices(cards, disks, targets, Xml.print(domain));
  }

  /** The file of a disk; empty if it is in none. */
  public static String file(Element disk) {
    return Xml.find(disk, "source").map(source -> source.getAttribute("file")).orElse("");
  }
}
