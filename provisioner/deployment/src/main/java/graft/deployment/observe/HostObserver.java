package graft.deployment.observe;

import graft.common.program.CurrentUser;
import graft.hypervisors.kvm.UsernetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** Examines the host itself: {@code /proc} and {@code /sys}. */
public final class HostObserver {
  /** The state of a listening socket in /proc/net/tcp (include/net/tcp_states.h). */
  private static final String LISTEN = "0A";

  /** libvirt's driver for Xen, which only root may use. */
  static final String XEN = "xen:///system";

  /** libvirt's driver for Linux containers, which only root may use. */
  public static final String LXC = "lxc:///system";

  private static final Path VHOST_VSOCK = Path.of("/dev/vhost-vsock");
  private static final Path GNTALLOC = Path.of("/dev/xen/gntalloc");
  private static final Path EVTCHN = Path.of("/dev/xen/evtchn");

  /** The loader's folders on Debian, Red Hat and SUSE. */
  private static final List<String> LIBRARIES =
      List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib");

  private HostObserver() {}

  /** Whether this is dom0 of Xen. */
  public static boolean isXenHost() {
    return lines(Path.of("/proc/xen/capabilities")).contains("control_d");
  }

  /** The URIs of the libvirt daemons that this host may have, the preferred one first. */
  public static List<String> daemons() {
    return isXenHost() ? List.of(XEN) : daemonsOfQemu();
  }

  /** The system's daemon is root's; everybody has a session's. */
  static List<String> daemonsOfQemu() {
    return CurrentUser.isRoot()
        ? List.of("qemu:///system", "qemu:///session")
        : List.of("qemu:///session");
  }

  /** Examines the host. */
  public static HostFacts observe() {
    long total = 0;
    long available = 0;
    for (String line : lines(Path.of("/proc/meminfo"))) {
      if (line.startsWith("MemTotal:")) {
        total = kibibytes(line);
      } else if (line.startsWith("MemAvailable:")) {
        available = kibibytes(line);
      }
    }
    List<String> driver = lines(Path.of("/sys/module/nvidia/version"));
    List<String> limit = lines(Path.of(HostFacts.PageGrants.LIMIT));
    return new HostFacts(
        Runtime.getRuntime().availableProcessors(),
        total,
        available,
        sharedMemory(),
        isUsable(VHOST_VSOCK),
        ucx(),
        CurrentUser.isRoot(),
        driver.isEmpty() ? "" : driver.get(0).strip(),
        new HostFacts.PageGrants(
            isUsable(GNTALLOC),
            isUsable(EVTCHN),
            limit.isEmpty() ? 0 : Long.parseLong(limit.get(0).strip())),
        UsernetProgram.obstacle().orElse(""));
  }

  private static boolean isUsable(Path device) {
    return Files.isReadable(device) && Files.isWritable(device);
  }

  private static boolean ucx() {
    String more = Objects.requireNonNullElse(System.getenv("LD_LIBRARY_PATH"), "");
    return Stream.concat(
            LIBRARIES.stream(), Stream.of(more.split(":")).filter(folder -> !folder.isEmpty()))
        .anyMatch(folder -> Files.exists(Path.of(folder, "libucp.so.0")));
  }

  private static long sharedMemory() {
    try {
      return Files.getFileStore(Path.of("/dev/shm")).getUsableSpace();
    } catch (IOException e) {
      return 0; // there is none
    }
  }

  /** The TCP ports on which something listens, on any address. */
  static Set<Integer> listening() {
    Set<Integer> ports = new HashSet<>();
    for (String file : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (String line : lines(Path.of(file))) {
        String[] fields = line.strip().split("\\s+", -1);
        if (fields.length > 3 && fields[3].equals(LISTEN)) {
          ports.add(Integer.parseInt(fields[1].substring(fields[1].lastIndexOf(':') + 1), 16));
        }
      }
    }
    return ports;
  }

  private static long kibibytes(String line) {
    return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of(); // not on this kernel
    }
  }
}
