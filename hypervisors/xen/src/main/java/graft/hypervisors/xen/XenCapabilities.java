package graft.hypervisors.xen;

import graft.hypervisors.libvirt.HostCapabilities;
import graft.hypervisors.libvirt.HypervisorException;
import graft.hypervisors.libvirt.domain.Virtualization;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * What the running Xen can do, beyond what libvirt tells: its driver says "no IOMMU" of every host.
 *
 * @param words of {@code xl info}'s line {@code virt_caps}, such as {@code hvm_directio}
 * @see <a href="https://xenbits.xen.org/docs/4.17-testing/man/xl.1.html">xl info</a>
 */
record XenCapabilities(Set<String> words) {

  private static final long LIMIT_SECONDS = 20;
  private static final String LINE = "virt_caps";

  XenCapabilities {
    words = Set.copyOf(words);
  }

  /** Of a local Xen; nothing is known of a remote one. */
  static XenCapabilities of(HostCapabilities host) {
    return host.uri().isLocal() ? parse(info()) : new XenCapabilities(Set.of());
  }

  /** Reads what {@code xl info} prints. */
  static XenCapabilities parse(String info) {
    return info.lines()
        .filter(line -> line.startsWith(LINE))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .map(caps -> new XenCapabilities(new TreeSet<>(Arrays.asList(caps.split("\\s+")))))
        .findFirst()
        .orElse(new XenCapabilities(Set.of()));
  }

  /** Whether such a guest can have a PCI device; no PVH guest can. */
  boolean passesDevicesTo(Virtualization kind) {
    return switch (kind) {
      case HVM -> words.contains("hvm_directio");
      case PV -> words.contains("pv_directio");
      case PVH -> false;
    };
  }

  private static String info() {
    try {
      Process process =
          new ProcessBuilder("xl", "info")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw failure("it failed", null);
      }
      return printed;
    } catch (IOException e) {
      throw failure(e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted", e);
    }
  }

  private static HypervisorException failure(String why, Throwable cause) {
    return new HypervisorException(
        "ask", "Xen by xl info", why, "run it by hand, as root in dom0", cause);
  }
}
