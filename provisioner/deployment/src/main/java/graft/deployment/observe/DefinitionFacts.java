package graft.deployment.observe;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.Xml;
import graft.hypervisors.libvirt.existing.PciSlots;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Element;

/**
 * What a guest's next start takes from its definition. Only what Graft writes and libvirt returns
 * unchanged is compared: libvirt completes a definition with defaults of its own.
 *
 * @param values each in words, by what it is
 * @param cards the networks of its network cards, by the cards' Ethernet addresses
 * @param freeSlots the number of PCI slots into which a device can be plugged while the guest runs
 * @param written when libvirt last wrote the definition to disk; empty where this is not known
 */
public record DefinitionFacts(
    Map<String, String> values,
    Map<String, String> cards,
    int freeSlots,
    Optional<Instant> written) {
  private static final String NONE = "none";
  private static final String CURRENT_CPUS = "current CPUs";
  private static final String DISK = "disk ";

  /** The key of the memory that the guest has, which may be less than its maximum. */
  private static final String CURRENT_MEMORY = "current memory";

  /** The value of what is not said. */
  private static final String ANY = "";

  private static final long MIB = 1L << 20;

  /** Copies the values in their order. */
  public DefinitionFacts {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    cards = Collections.unmodifiableMap(new LinkedHashMap<>(cards));
  }

  /** Reads a domain's XML: as Graft wrote it, or as libvirt returns the inactive one. */
  public static DefinitionFacts of(Element domain, Optional<Instant> written) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("memory", memory(domain, "memory").orElse(NONE));
    values.put(CURRENT_MEMORY, memory(domain, "currentMemory").orElse(ANY));
    String cpus = Xml.text(domain, "vcpu").orElse("1");
    values.put("CPUs", cpus);
    values.put(
        CURRENT_CPUS,
        Xml.find(domain, "vcpu").flatMap(v -> Xml.attribute(v, "current")).orElse(cpus));
    values.put("kernel", Xml.text(domain, "os", "kernel").orElse(NONE));
    values.put("initramfs", Xml.text(domain, "os", "initrd").orElse(NONE));
    values.put("kernel arguments", Xml.text(domain, "os", "cmdline").orElse(NONE));
    Map<String, String> cards = new LinkedHashMap<>();
    Xml.find(domain, "devices")
        .ifPresent(
            devices -> {
              disks(devices, values);
              cards(devices, cards);
            });
    return new DefinitionFacts(values, cards, PciSlots.free(domain).size(), written);
  }

  /** How much memory the guest has at its next start, in whole MiB; empty if nothing says. */
  public Optional<MemorySize> currentMemory() {
    return Optional.ofNullable(values.get(CURRENT_MEMORY))
        .filter(value -> !value.equals(ANY))
        .map(MemorySize::parse);
  }

  /** How many CPUs the guest has at its next start. */
  public String currentCpus() {
    return values.get(CURRENT_CPUS);
  }

  /** These facts, had the guest another number of CPUs at its next start. */
  public DefinitionFacts withCurrentCpus(String cpus) {
    Map<String, String> others = new LinkedHashMap<>(values);
    others.put(CURRENT_CPUS, cpus);
    return new DefinitionFacts(others, cards, freeSlots, written);
  }

  /** These facts, had the guest a card with that Ethernet address on that network. */
  public DefinitionFacts withCard(String mac, String network) {
    Map<String, String> others = new LinkedHashMap<>(cards);
    others.put(mac, network);
    return new DefinitionFacts(values, others, freeSlots, written);
  }

  /** These facts without the card with that Ethernet address. */
  public DefinitionFacts withoutCard(String mac) {
    Map<String, String> others = new LinkedHashMap<>(cards);
    others.remove(mac);
    return new DefinitionFacts(values, others, freeSlots, written);
  }

  /** Whether a disk of the guest is in that file. */
  public boolean hasDisk(String file) {
    return values.entrySet().stream().anyMatch(value -> isDisk(value, file));
  }

  /** These facts without the disk in that file. */
  public DefinitionFacts withoutDisk(String file) {
    Map<String, String> others = new LinkedHashMap<>(values);
    others.entrySet().removeIf(value -> isDisk(value, file));
    return new DefinitionFacts(others, cards, freeSlots, written);
  }

  private static boolean isDisk(Map.Entry<String, String> value, String file) {
    return value.getKey().startsWith(DISK) && value.getValue().equals(file);
  }

  private static void disks(Element devices, Map<String, String> values) {
    for (Element disk : Xml.children(devices, "disk")) {
      String target = Xml.find(disk, "target").map(t -> t.getAttribute("dev")).orElse("");
      values.put(DISK + target, Xml.find(disk, "source").map(DefinitionFacts::from).orElse(NONE));
    }
  }

  private static void cards(Element devices, Map<String, String> cards) {
    List<Element> interfaces = Xml.children(devices, "interface");
    for (int i = 0; i < interfaces.size(); i++) {
      Element card = interfaces.get(i);
      String mac = Xml.find(card, "mac").map(m -> m.getAttribute("address")).orElse("card " + i);
      cards.put(mac.toLowerCase(Locale.ROOT), network(card));
    }
  }

  /** The network of a card in a word. */
  public static String network(Element card) {
    return switch (card.getAttribute("type")) {
      case "network" -> Xml.find(card, "source").map(s -> s.getAttribute("network")).orElse(NONE);
      case "client" -> "closed";
      default -> card.getAttribute("type");
    };
  }

  /** The networks of all cards. libvirt appends a card that comes back to the others. */
  private String networks() {
    return cards.isEmpty() ? NONE : String.join(" and ", cards.values().stream().sorted().toList());
  }

  private static String from(Element source) {
    for (String attribute : List.of("file", "dev", "volume")) {
      if (!source.getAttribute(attribute).isEmpty()) {
        return source.getAttribute(attribute);
      }
    }
    return NONE;
  }

  /** In whole MiB: libvirt may round up. */
  private static Optional<String> memory(Element domain, String name) {
    return Xml.find(domain, name)
        .flatMap(element -> bytes(element.getTextContent().strip(), element.getAttribute("unit")))
        .map(bytes -> new MemorySize((bytes + MIB - 1) / MIB * MIB).toString());
  }

  /** See "memory" in libvirt's description of the domain XML; KiB if there is no unit. */
  private static Optional<Long> bytes(String number, String unit) {
    long factor =
        switch (unit.toLowerCase(Locale.ROOT)) {
          case "b", "bytes" -> 1;
          case "", "k", "kib" -> 1L << 10;
          case "m", "mib" -> MIB;
          case "g", "gib" -> 1L << 30;
          default -> 0;
        };
    try {
      return factor == 0
          ? Optional.empty()
          : Optional.of(Math.multiplyExact(Long.parseLong(number), factor));
    } catch (ArithmeticException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** What differs from a wanted definition, each as {@code memory 512MiB → 1GiB}. */
  public List<String> differencesFrom(DefinitionFacts wanted) {
    Set<String> keys = new LinkedHashSet<>(wanted.values.keySet());
    keys.addAll(values.keySet());
    List<String> differences = new ArrayList<>();
    for (String key : keys) {
      String was = wanted.values.getOrDefault(key, NONE);
      String is = values.getOrDefault(key, NONE);
      if (!was.equals(is) && !was.equals(ANY)) {
        differences.add(key + " " + was + " → " + is);
      }
    }
    if (!wanted.networks().equals(networks())) {
      differences.add("networks " + wanted.networks() + " → " + networks());
    }
    return differences;
  }
}
