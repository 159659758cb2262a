package graft.hypervisors.xen;

import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.HostNuma;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The properties of the running Xen that libvirt does not report: libvirt's driver reports "no
 * IOMMU" for every host.
 *
 * @param known whether Xen was asked; a remote Xen is not asked
 * @param version as {@code 4.17.5}
 * @param capabilities words such as {@code hvm_directio}
 * @param commandLine the words of Xen's own command line
 * @param logsConsoles whether Xen's xenconsoled logs the consoles of guests to files
 * @param numa the host's NUMA nodes
 * @see <a href="https://xenbits.xen.org/docs/4.17-testing/man/xl.1.html">xl info</a>
 */
record RunningXen(
    boolean known,
    String version,
    Set<String> capabilities,
    List<String> commandLine,
    boolean logsConsoles,
    HostNuma numa) {

  private static final long LIMIT_SECONDS = 20;

  /** The words that disable the IOMMU (Xen, docs/misc/xen-command-line: iommu). */
  private static final Set<String> OFF = Set.of("0", "off", "no", "false", "disable");

  RunningXen {
    capabilities = Set.copyOf(capabilities);
    commandLine = List.copyOf(commandLine);
  }

  static RunningXen of(HostCapabilities host) {
    return host.uri().isLocal() && host.hypervisor().equals("Xen")
        ? parse(info(), logsConsoles(Path.of("/proc")))
        : new RunningXen(false, "", Set.of(), List.of(), false, XenNuma.parse(""));
  }

  /** Parses the output of {@code xl info -n}. */
  static RunningXen parse(String info, boolean logsConsoles) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : info.lines().toList()) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        values.put(line.substring(0, colon).strip(), line.substring(colon + 1).strip());
      }
    }
    return new RunningXen(
        true,
        values.getOrDefault("xen_version", "of unknown version"),
        new TreeSet<>(words(values.get("virt_caps"))),
        words(values.get("xen_commandline")),
        logsConsoles,
        XenNuma.parse(info));
  }

  private static List<String> words(String text) {
    return text == null || text.isEmpty() ? List.of() : Arrays.asList(text.split("\\s+"));
  }

  /** Whether guests of a kind can have a PCI device; no PVH guest can. */
  boolean passesDevicesTo(Virtualization kind) {
    return switch (kind) {
      case HVM -> capabilities.contains("hvm_directio");
      case PV -> capabilities.contains("pv_directio");
      case PVH, CONTAINER -> false;
    };
  }

  /** The reason why guests of a kind cannot have a PCI device; empty if they can. */
  String obstacle(Virtualization kind) {
    if (passesDevicesTo(kind)) {
      return "";
    } else if (!known) {
      return "what a Xen of another machine can do is not known here";
    } else if (kind == Virtualization.PVH) {
      return "no PVH guest of Xen " + version + " can have any; write virtualization: pv or hvm";
    } else if (turnedOff()) {
      return "its IOMMU is turned off on Xen's command line: " + String.join(" ", commandLine);
    }
    return "Xen " + version + " uses no IOMMU: turn VT-d or AMD-Vi on in the BIOS, see xl dmesg";
  }

  private boolean turnedOff() {
    for (String word : commandLine) {
      if (word.equals("no-iommu")) {
        return true;
      }
      if (word.startsWith("iommu=")) {
        for (String option : word.substring("iommu=".length()).split(",", -1)) {
          if (OFF.contains(option)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** Whether xenconsoled runs with {@code --log=guest} or {@code --log=all}. */
  static boolean logsConsoles(Path proc) {
    try (Stream<Path> processes = Files.list(proc)) {
      return processes
          .filter(process -> process.getFileName().toString().matches("[0-9]+"))
          .map(process -> read(process.resolve("cmdline")).split("\0"))
          .filter(words -> words[0].endsWith("xenconsoled"))
          .anyMatch(words -> Stream.of(words).anyMatch(word -> word.matches("--log=(guest|all)")));
    } catch (IOException e) {
      return false; // the caller may not list the processes
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return ""; // the process has ended
    }
  }

  private static String info() {
    try {
      Process process =
          new ProcessBuilder("xl", "info", "-n")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .start();
      // The output fits into the pipe, so that the program ends without a reader.
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw failure("it failed", null);
      }
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw failure(e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted", e);
    }
  }

  private static HypervisorException failure(String why, Throwable cause) {
    return new HypervisorException(
        "ask", "Xen by xl info -n", why, "run it by hand, as root in dom0", cause);
  }
}
