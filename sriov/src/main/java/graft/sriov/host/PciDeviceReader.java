package graft.sriov.host;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.sriov.IommuGroup;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Reads one PCI function and the interfaces and files that belong to it. */
final class PciDeviceReader {
  private static final int BARS = 6;

  // Linux, include/linux/ioport.h
  private static final long IORESOURCE_IO = 0x100;
  private static final long IORESOURCE_PREFETCH = 0x2000;
  private static final long IORESOURCE_MEM_64 = 0x100000;

  private final Sysfs files;
  private final RdmaReader rdma;

  PciDeviceReader(Sysfs files) {
    this.files = files;
    this.rdma = new RdmaReader(files);
  }

  PciFunction read(PciAddress address) {
    String folder = PciPaths.device(address);
    Set<String> names = new HashSet<>(files.list(folder));
    One one = new One(folder, names);
    Identity identity = identity(one);
    PciDevice device =
        new PciDevice(
            address,
            parent(folder),
            identity.vendor,
            identity.device,
            identity.subsystemVendor,
            identity.subsystemDevice,
            identity.pciClass,
            one.link("driver").map(String::intern),
            one.text("driver_override").filter(text -> !text.equals("(null)") && !text.isEmpty()),
            one.link("iommu_group").map(number -> new IommuGroup(Integer.parseInt(number))),
            numaNode(one),
            bars(one.text("resource").orElse("")),
            sriov(one),
            one.link("physfn").flatMap(PciAddress::tryParse),
            one.text("reset_method")
                .filter(text -> !text.isEmpty())
                .map(text -> List.of(text.split(" ", -1)))
                .orElse(List.of()),
            one.text("boot_vga").orElse("0").equals("1"),
            one.number("enable") > 0,
            interfaces(folder, names),
            names.contains("mdev_supported_types")
                ? files.list(folder + "/mdev_supported_types")
                : List.of(),
            DeviceFiles.of(files, address, names),
            names.contains("sriov"));
    return new PciFunction(device, names.contains("infiniband") ? rdma.read(address) : List.of());
  }

  /** The existing files of one device. */
  private final class One {
    private final String folder;
    private final Set<String> names;

    One(String folder, Set<String> names) {
      this.folder = folder;
      this.names = names;
    }

    Optional<String> text(String name) {
      return names.contains(name) ? files.read(folder + "/" + name) : Optional.empty();
    }

    Optional<String> link(String name) {
      return names.contains(name) ? files.linkName(folder + "/" + name) : Optional.empty();
    }

    int number(String name) {
      return text(name).map(Numbers::decode).orElse(0);
    }
  }

  private record Identity(
      int vendor, int device, int subsystemVendor, int subsystemDevice, int pciClass) {}

  /**
   * The file {@code uevent} contains the values of five other files; recorded trees may lack it.
   */
  private static Identity identity(One one) {
    Optional<String> text = one.text("uevent").filter(uevent -> uevent.contains("PCI_ID="));
    if (text.isEmpty()) {
      return new Identity(
          one.number("vendor"),
          one.number("device"),
          one.number("subsystem_vendor"),
          one.number("subsystem_device"),
          one.number("class"));
    }
    int[] id = new int[2];
    int[] subsystem = new int[2];
    int pciClass = 0;
    for (String line : text.get().split("\n", -1)) {
      if (line.startsWith("PCI_CLASS=")) {
        pciClass = Integer.parseInt(line.substring(10), 16);
      } else if (line.startsWith("PCI_ID=")) {
        id = pair(line.substring(7));
      } else if (line.startsWith("PCI_SUBSYS_ID=")) {
        subsystem = pair(line.substring(14));
      }
    }
    return new Identity(id[0], id[1], subsystem[0], subsystem[1], pciClass);
  }

  private static int[] pair(String text) {
    int colon = text.indexOf(':');
    return new int[] {
      Integer.parseInt(text.substring(0, colon), 16),
      Integer.parseInt(text.substring(colon + 1), 16)
    };
  }

  /**
   * The device's folder is a link into the tree of buses, in which a bridge contains the devices
   * below it.
   */
  private Optional<PciAddress> parent(String folder) {
    return files
        .readLink(folder)
        .flatMap(
            target -> {
              String[] parts = target.split("/", -1);
              return parts.length < 2
                  ? Optional.empty()
                  : PciAddress.tryParse(parts[parts.length - 2]);
            });
  }

  private static OptionalInt numaNode(One one) {
    // The kernel prints -1 if the firmware does not report the node.
    return one.text("numa_node")
        .map(Numbers::decode)
        .filter(node -> node >= 0)
        .map(OptionalInt::of)
        .orElse(OptionalInt.empty());
  }

  /**
   * The lines contain start, end and flags: six registers first, then the ROM, SR-IOV and windows.
   */
  private static List<Bar> bars(String resource) {
    List<Bar> bars = new ArrayList<>(BARS);
    String[] lines = resource.split("\n", -1);
    for (int i = 0; i < Math.min(BARS, lines.length); i++) {
      String[] fields = lines[i].strip().split(" ", -1);
      if (fields.length != 3) {
        continue;
      }
      long start = hex(fields[0]);
      long end = hex(fields[1]);
      long flags = hex(fields[2]);
      if (flags != 0 && end >= start) {
        bars.add(
            new Bar(
                i,
                start,
                new MemorySize(end - start + 1),
                (flags & IORESOURCE_IO) != 0,
                (flags & IORESOURCE_MEM_64) != 0,
                (flags & IORESOURCE_PREFETCH) != 0));
      }
    }
    return bars;
  }

  private static long hex(String text) {
    return Long.parseUnsignedLong(text, 2, text.length(), 16);
  }

  private Optional<SriovCapability> sriov(One one) {
    if (!one.names.contains("sriov_totalvfs")) {
      return Optional.empty();
    }
    int count = one.number("sriov_numvfs");
    List<PciAddress> vfs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Optional<PciAddress> vf = one.link("virtfn" + i).flatMap(PciAddress::tryParse);
      if (vf.isEmpty()) {
        break;
      }
      vfs.add(vf.get());
    }
    return Optional.of(
        new SriovCapability(
            one.number("sriov_totalvfs"),
            count,
            one.number("sriov_offset"),
            one.number("sriov_stride"),
            one.text("sriov_drivers_autoprobe").orElse("1").equals("1"),
            vfs));
  }

  /** Interfaces are in the device's own folder, or in the folder of its only virtio device. */
  private List<NetInterface> interfaces(String folder, Set<String> names) {
    List<NetInterface> interfaces = new ArrayList<>();
    for (String name : names) {
      if (name.equals("net")) {
        addInterfaces(folder + "/net", interfaces);
      } else if (name.startsWith("virtio")) {
        addInterfaces(folder + "/" + name + "/net", interfaces);
      }
    }
    return interfaces;
  }

  private void addInterfaces(String folder, List<NetInterface> interfaces) {
    for (String name : files.list(folder)) {
      String net = folder + "/" + name + "/";
      interfaces.add(
          new NetInterface(
              name,
              files.read(net + "ifindex").map(Numbers::decode).orElse(0),
              files.read(net + "type").map(Numbers::decode).orElse(0),
              files.read(net + "dev_port").map(Numbers::decode).orElse(0),
              files.read(net + "phys_port_name").orElse("").intern(),
              files.read(net + "address").orElse(""),
              files.read(net + "operstate").orElse("unknown").intern()));
    }
  }
}
