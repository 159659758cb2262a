package graft.deployment.snapshot;

import graft.common.GraftException;
import graft.deployment.step.Step;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.MakeRoot;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.w3c.dom.Element;

/**
 * The disks of a guest, by whether snapshots cover them.
 *
 * @param covered those that Graft made
 * @param others in words: others that the guest may write
 */
record CoveredDisks(List<GuestDisk> covered, List<String> others) {
  /**
   * Reads them.
   *
   * @param steps the guest's, from the journal
   * @param domain its definition
   * @throws GraftException if there are none to take snapshots of, or if the definition has others
   *     in place of Graft's
   */
  static CoveredDisks of(String guest, List<Step> steps, Element domain) {
    for (Step step : steps) {
      if (step instanceof MakeRoot root) {
        throw new GraftException(
            "the container '" + guest + "' has a folder and no disk: " + root.folder(),
            "stop it by graft stop, and copy the folder: cp -a, or a snapshot of its file system");
      }
    }
    List<GuestDisk> covered =
        steps.stream()
            .filter(CreateDisk.class::isInstance)
            .map(CreateDisk.class::cast)
            .map(disk -> new GuestDisk(disk.disk(), disk.target()))
            .toList();
    Map<String, String> writable = writable(domain);
    for (GuestDisk disk : covered) {
      if (!sources(domain).contains(disk.file().toString())) {
        throw new GraftException(
            "the definition of '" + guest + "' in libvirt does not have " + disk.file(),
            "somebody has put another file in its place, as virsh snapshot-create --disk-only does:"
                + " virsh blockcommit --pivot undoes this");
      }
      writable.remove(disk.file().toString());
    }
    List<String> others = new ArrayList<>();
    writable.forEach(
        (source, target) -> others.add(target + ", " + source + ": Graft did not make this disk"));
    if (covered.isEmpty()) {
      throw new GraftException(
          "the guest '" + guest + "' has no disk of Graft's, so that a snapshot would hold nothing",
          others.isEmpty()
              ? "what it writes is in its memory: give it disks in the descriptor"
              : "not covered: " + String.join("; ", others));
    }
    return new CoveredDisks(covered, others);
  }

  private static List<String> sources(Element domain) {
    return disks(domain).stream().map(CoveredDisks::source).toList();
  }

  /** The targets of the disks that the guest may write, by their sources. */
  private static Map<String, String> writable(Element domain) {
    Map<String, String> targets = new LinkedHashMap<>();
    for (Element disk : disks(domain)) {
      if (Xml.find(disk, "readonly").isEmpty() && !source(disk).isEmpty()) {
        targets.put(
            source(disk),
            Xml.find(disk, "target").map(t -> t.getAttribute("dev")).orElse("a disk"));
      }
    }
    return targets;
  }

  private static List<Element> disks(Element domain) {
    return Xml.children(domain, "devices").stream()
        .flatMap(devices -> Xml.children(devices, "disk").stream())
        .toList();
  }

  private static String source(Element disk) {
    return Xml.find(disk, "source")
        .map(
            source ->
                List.of("file", "dev", "volume", "name").stream()
                    .map(source::getAttribute)
                    .filter(value -> !value.isEmpty())
                    .findFirst()
                    .orElse(""))
        .orElse("");
  }
}
