package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The disks of a host's PCI devices, and which of them the host uses, even through partitions, LVM,
 * RAID or encryption.
 *
 * @param disks the disks and partitions of each PCI function: {@code vda}, {@code nvme0n1p2}
 * @param mounted the disks and partitions that are mounted or used for swap, directly or through
 *     other block devices
 */
public record BlockDevices(Map<PciAddress, List<String>> disks, Set<String> mounted) {
  private static final String BLOCK = "/sys/class/block/";

  public BlockDevices {
    disks = Map.copyOf(disks);
    mounted = Set.copyOf(mounted);
  }

  /** Reads the block devices of a host. */
  public static BlockDevices read(Sysfs files) {
    Map<PciAddress, List<String>> disks = new TreeMap<>();
    for (String name : files.list(BLOCK)) {
      files
          .readLink(BLOCK + name)
          .flatMap(BlockDevices::function)
          .ifPresent(at -> disks.computeIfAbsent(at, key -> new ArrayList<>()).add(name));
    }
    return new BlockDevices(disks, mounted(files));
  }

  /** The last PCI address in the path of a device, as in .../0000:00:07.0/virtio3/block/vda. */
  private static Optional<PciAddress> function(String target) {
    Optional<PciAddress> last = Optional.empty();
    for (String part : target.split("/", -1)) {
      Optional<PciAddress> address = PciAddress.tryParse(part);
      last = address.isPresent() ? address : last;
    }
    return last;
  }

  /**
   * The mounted block devices, and all devices below them according to the kernel's {@code slaves}
   * folders.
   */
  private static Set<String> mounted(Sysfs files) {
    Deque<String> open = new ArrayDeque<>();
    // proc(5), mountinfo: the third field is the device's number, which identifies the device even
    // for /dev/root.
    for (String line : lines(files, "/proc/1/mountinfo")) {
      String[] fields = line.split(" ", -1);
      if (fields.length > 2 && !fields[2].startsWith("0:")) {
        files.linkName("/sys/dev/block/" + fields[2]).ifPresent(open::add);
      }
      // btrfs has no device number, so that the name of the source is used.
      int dash = List.of(fields).indexOf("-");
      if (dash > 0 && dash + 2 < fields.length) {
        name(files, fields[dash + 2]).ifPresent(open::add);
      }
    }
    for (String line : lines(files, "/proc/swaps")) {
      name(files, line.split("\\s", 2)[0]).ifPresent(open::add);
    }
    Set<String> mounted = new HashSet<>();
    while (!open.isEmpty()) {
      String name = open.remove();
      if (mounted.add(name)) {
        open.addAll(files.list(BLOCK + name + "/slaves"));
      }
    }
    return mounted;
  }

  private static List<String> lines(Sysfs files, String path) {
    return files.read(path).orElse("").lines().toList();
  }

  /** The kernel's name of a file below /dev. The links of udev point to such files. */
  private static Optional<String> name(Sysfs files, String path) {
    if (!path.startsWith("/dev/")) {
      return Optional.empty();
    }
    return Optional.of(
        files.linkName(path).orElseGet(() -> path.substring(path.lastIndexOf('/') + 1)));
  }

  /** Descriptions of how the host uses the disks of a device; none if no disk is in use. */
  public List<String> uses(Sysfs files, PciAddress device) {
    List<String> uses = new ArrayList<>();
    for (String disk : disks.getOrDefault(device, List.of())) {
      List<String> holders = files.list(BLOCK + disk + "/holders");
      if (mounted.contains(disk)) {
        uses.add("/dev/" + disk + " is mounted");
      } else if (!holders.isEmpty()) {
        uses.add("/dev/" + disk + " is part of " + String.join(", ", holders));
      }
    }
    return uses;
  }
}
