package graft.deployment.observe;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.Xml;
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
 * @param written when libvirt last wrote the definition to disk; empty where this is not known
 */
public record DefinitionFacts(Map<String, String> values, Optional<Instant> written) {
  private static final String NONE = "none";

  /** The key of the memory that the guest has, which may be less than its maximum. */
  private static final String CURRENT_MEMORY = "current memory";

  /** The value of what is not said. */
  private static final String ANY = "";

  private static final long MIB = 1L << 20;

  /** Copies the values in their order. */
  public DefinitionFacts {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  /** Reads a domain's XML: as Graft wrote it, or as libvirt returns the inactive one. */
  public static DefinitionFacts of(Element domain, Optional<Instant> written) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("memory", memory(domain, "memory").orElse(NONE));
    values.put(CURRENT_MEMORY, memory(domain, "currentMemory").orElse(ANY));
    String cpus = Xml.text(domain, "vcpu").orElse("1");
    values.put("CPUs", cpus);
    values.put(
        "current CPUs",
        Xml.find(domain, "vcpu").flatMap(v -> Xml.attribute(v, "current")).orElse(cpus));
    values.put("kernel", Xml.text(domain, "os", "kernel").orElse(NONE));
    values.put("initramfs", Xml.text(domain, "os", "initrd").orElse(NONE));
    values.put("kernel arguments", Xml.text(domain, "os", "cmdline").orElse(NONE));
    Xml.find(domain, "devices").ifPresent(devices -> devices(devices, values));
    return new DefinitionFacts(values, written);
  }

  /** How much memory the guest has at its next start, in whole MiB; empty if nothing says. */
  public Optional<MemorySize> currentMemory() {
    return Optional.ofNullable(values.get(CURRENT_MEMORY))
        .filter(value -> !value.equals(ANY))
        .map(MemorySize::parse);
  }

  private static void devices(Element devices, Map<String, String> values) {
    for (Element disk : Xml.children(devices, "disk")) {
      String target = Xml.find(disk, "target").map(t -> t.getAttribute("dev")).orElse("");
      values.put(
          "disk " + target, Xml.find(disk, "source").map(DefinitionFacts::from).orElse(NONE));
    }
    List<String> networks = new ArrayList<>();
    for (Element one : Xml.children(devices, "interface")) {
      if (one.getAttribute("type").equals("network")) {
        Xml.find(one, "source").ifPresent(source -> networks.add(source.getAttribute("network")));
      }
    }
    values.put("networks", networks.isEmpty() ? NONE : String.join(" and ", networks));
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
    return differences;
  }
}
