package graft.deployment.doctor;

import graft.common.values.PciAddress;
import graft.deployment.observe.Connections;
import graft.deployment.observe.HostObserver;
import graft.deployment.state.DeviceClaims;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.lxc.LxcHypervisor;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Checks what {@code hypervisor: lxc} needs of a host. */
final class Containers {
  private static final String SUBJECT = "containers";
  private static final Set<String> DAEMONS = Set.of("libvirtd", "virtlxcd");

  private Containers() {}

  /**
   * What libvirt and the kernel offer containers. A host needs none, so that nothing here is more
   * than a warning.
   *
   * @param proc where the kernel shows processes and mounts, {@code /proc}
   */
  static List<Finding> examine(Path proc) {
    List<Finding> findings = new ArrayList<>();
    try (Connections connections = new Connections()) {
      if (new LxcHypervisor().accepts(connections.get(HostObserver.LXC).capabilities())) {
        findings.add(Finding.ok(SUBJECT, "libvirt runs them at " + HostObserver.LXC));
      }
    } catch (HypervisorException e) {
      findings.add(
          Finding.ok(SUBJECT, "libvirt runs no containers (hypervisor: lxc): " + e.getMessage()));
      return findings;
    }
    cgroups(proc).ifPresent(findings::add);
    return findings;
  }

  /**
   * The devices that Graft gave to containers which run now.
   *
   * @param claims the folder of all claims
   */
  static Set<PciAddress> lent(Path claims) {
    Set<PciAddress> lent = new TreeSet<>();
    Map<String, DeviceClaims.Holder> all = new DeviceClaims(claims).all();
    if (all.isEmpty()) {
      return lent;
    }
    try (Connections connections = new Connections()) {
      LibvirtHost host = connections.get(HostObserver.LXC);
      all.forEach(
          (device, holder) -> {
            boolean runs =
                host.guest(holder.guest()).filter(guest -> guest.state().isActive()).isPresent();
            PciAddress.tryParse(device).filter(at -> runs).ifPresent(lent::add);
          });
    } catch (HypervisorException e) {
      // without that driver no container runs
    }
    return lent;
  }

  /** Whether libvirt's daemon sees cgroups with which it starts no container. */
  static Optional<Finding> cgroups(Path proc) {
    return mixesCgroups(daemon(proc).resolve("mounts"))
        ? Optional.of(
            Finding.warning(
                SUBJECT,
                "both versions of cgroups are mounted, with which libvirt starts no container",
                "boot with systemd.unified_cgroup_hierarchy=1, or start libvirtd in a mount"
                    + " namespace without the mount of cgroup2, as ./graft test does"))
        : Optional.empty();
  }

  /** The process of libvirt's daemon, which may have mounts of its own; else the first process. */
  private static Path daemon(Path proc) {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
      for (Path process : processes) {
        if (DAEMONS.contains(name(process))) {
          return process;
        }
      }
    } catch (IOException e) {
      // without /proc there is nothing to say
    }
    return proc.resolve("1");
  }

  private static String name(Path process) {
    try {
      return Files.readString(process.resolve("comm")).strip();
    } catch (IOException e) {
      return ""; // the process has ended
    }
  }

  private static boolean mixesCgroups(Path mounts) {
    try {
      List<String> types =
          Files.readAllLines(mounts).stream()
              .map(line -> line.split(" ", -1))
              .filter(fields -> fields.length > 2)
              .map(fields -> fields[2])
              .toList();
      return types.contains("cgroup") && types.contains("cgroup2");
    } catch (IOException e) {
      return false;
    }
  }
}
