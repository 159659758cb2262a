package graft.hypervisors.libvirt.capabilities;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.w3c.dom.Element;

/**
 * Reads libvirt's capabilities document.
 *
 * @see <a href="https://libvirt.org/formatcaps.html">libvirt: driver capabilities XML</a>
 */
public final class CapabilitiesXml {

  private static final Pattern OWNER = Pattern.compile("\\+(\\d{1,9}):\\+(\\d{1,9})");

  private final Element root;

  public CapabilitiesXml(String xml) {
    root = Xml.parse(xml).getDocumentElement();
  }

  public String arch() {
    return Xml.text(root, "host", "cpu", "arch").orElse("unknown");
  }

  public boolean iommu() {
    return Xml.find(root, "host", "iommu")
        .map(e -> e.getAttribute("support").equals("yes"))
        .orElse(false);
  }

  /**
   * The owner of the files of running guests (security model "dac"); empty if libvirt does not
   * change the owner.
   */
  public Optional<FileOwner> guestOwner() {
    for (Element model :
        Xml.find(root, "host").map(h -> Xml.children(h, "secmodel")).orElse(List.of())) {
      if (Xml.text(model, "model").orElse("").equals("dac")) {
        for (Element label : Xml.children(model, "baselabel")) {
          Matcher numbers = OWNER.matcher(label.getTextContent().strip());
          if (numbers.matches()) {
            return Optional.of(
                new FileOwner(
                    Integer.valueOf(numbers.group(1)), Integer.valueOf(numbers.group(2))));
          }
        }
      }
    }
    return Optional.empty();
  }

  public List<NumaCell> numaCells() {
    List<NumaCell> cells = new ArrayList<>();
    Xml.find(root, "host", "topology", "cells")
        .ifPresent(all -> Xml.children(all, "cell").forEach(cell -> cells.add(numaCell(cell))));
    return cells;
  }

  private static NumaCell numaCell(Element cell) {
    List<Integer> cpus = new ArrayList<>();
    Xml.find(cell, "cpus")
        .ifPresent(
            all ->
                Xml.children(all, "cpu")
                    .forEach(cpu -> cpus.add(Integer.valueOf(cpu.getAttribute("id")))));
    Map<MemorySize, Long> pages = new HashMap<>();
    for (Element page : Xml.children(cell, "pages")) {
      MemorySize size = size(page.getAttribute("unit"), page.getAttribute("size"));
      // The first entry is the ordinary page size, for which "allocated" has no meaning.
      if (size.bytes() > 65536) {
        pages.put(size, Long.parseLong(page.getTextContent().strip()));
      }
    }
    Map<Integer, Integer> distances = new HashMap<>();
    Xml.find(cell, "distances")
        .ifPresent(
            all ->
                Xml.children(all, "sibling")
                    .forEach(
                        s ->
                            distances.put(
                                Integer.valueOf(s.getAttribute("id")),
                                Integer.valueOf(s.getAttribute("value")))));
    MemorySize memory =
        Xml.find(cell, "memory")
            .map(m -> size(m.getAttribute("unit"), m.getTextContent().strip()))
            .orElse(new MemorySize(0));
    return new NumaCell(
        Integer.parseInt(cell.getAttribute("id")), memory, CpuSet.of(cpus), pages, distances);
  }

  private static MemorySize size(String unit, String number) {
    long value = Long.parseLong(number);
    return switch (unit) {
      case "", "KiB" -> MemorySize.ofKib(value);
      case "b", "bytes" -> new MemorySize(value);
      case "MiB" -> MemorySize.ofMib(value);
      case "GiB" -> MemorySize.ofGib(value);
      default -> throw new IllegalArgumentException("unknown unit in capabilities: " + unit);
    };
  }

  public List<GuestArchitecture> guests() {
    List<GuestArchitecture> guests = new ArrayList<>();
    for (Element guest : Xml.children(root, "guest")) {
      Element arch = Xml.find(guest, "arch").orElseThrow();
      Set<String> machines = new LinkedHashSet<>();
      Set<String> types = new HashSet<>();
      Optional<String> emulator = Xml.text(arch, "emulator");
      Xml.children(arch, "machine").forEach(m -> machines.add(m.getTextContent().strip()));
      for (Element type : Xml.children(arch, "domain")) {
        types.add(type.getAttribute("type"));
        Xml.children(type, "machine").forEach(m -> machines.add(m.getTextContent().strip()));
        if (emulator.isEmpty()) {
          emulator = Xml.text(type, "emulator");
        }
      }
      guests.add(
          new GuestArchitecture(
              Xml.text(guest, "os_type").orElse("unknown"),
              arch.getAttribute("name"),
              emulator,
              List.copyOf(machines),
              types));
    }
    return guests;
  }
}
