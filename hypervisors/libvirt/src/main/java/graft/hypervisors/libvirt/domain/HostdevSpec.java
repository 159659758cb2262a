package graft.hypervisors.libvirt.domain;

import graft.common.values.PciAddress;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A device of the host that is assigned to the guest. The element always has {@code managed='no'}:
 * separate steps bind and release the device, so that a plan shows them and can undo them.
 */
public sealed interface HostdevSpec {

  /**
   * A PCI function.
   *
   * @param address the function's address on the host
   */
  record Pci(PciAddress address) implements HostdevSpec {
    @Override
    public String toString() {
      return address.toString();
    }
  }

  /**
   * A mediated device: a share of a device, created by the device's driver.
   *
   * @param uuid the mediated device's name on the host
   */
  record Mediated(UUID uuid) implements HostdevSpec {
    @Override
    public String toString() {
      return uuid.toString();
    }
  }

  /**
   * A device node of the host: the container gets one of its own at the same path, and may use the
   * device behind it. In the container the node belongs to root, and to nobody else.
   *
   * @param path the node's path
   */
  record Node(String path) implements HostdevSpec {
    public Node {
      Checks.absolutePath("device node", path);
    }

    @Override
    public String toString() {
      return path;
    }
  }

  /**
   * A network interface of the host, which moves into the network namespace of a container while
   * the container runs. When that namespace ends, the kernel returns the interface of a device to
   * the host; it deletes one that no device has, such as veth.
   *
   * @param name the interface's name on the host
   */
  record Interface(String name) implements HostdevSpec {
    /** The kernel's rule, dev_valid_name in net/core/dev.c: 1 to 15 bytes. */
    private static final Pattern NAME = Pattern.compile("[^/:\\s]{1,15}");

    public Interface {
      if (!NAME.matcher(name).matches() || name.equals(".") || name.equals("..")) {
        throw new IllegalArgumentException("not the name of a network interface: '" + name + "'");
      }
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * Parses the {@link Object#toString} of a PCI function or a mediated device.
   *
   * @throws IllegalArgumentException if the text is of neither kind
   */
  static HostdevSpec parse(String text) {
    HostdevSpec spec =
        text.contains(":") ? new Pci(PciAddress.parse(text)) : new Mediated(UUID.fromString(text));
    if (!spec.toString().equals(text)) {
      throw new IllegalArgumentException("not a device of the host in full: '" + text + "'");
    }
    return spec;
  }
}
