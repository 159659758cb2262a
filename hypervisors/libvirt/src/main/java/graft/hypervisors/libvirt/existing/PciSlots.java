package graft.hypervisors.libvirt.existing;

import graft.hypervisors.libvirt.domain.Xml;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.w3c.dom.Element;

/**
 * The PCI slots of a domain that are free and into which a device can be plugged while the domain
 * runs.
 *
 * <p>An address is always written out when a device is attached. Without one, libvirt may add a
 * controller for the device, which would remain when the device is detached.
 *
 * @see <a href="https://libvirt.org/pci-hotplug.html">PCI topology and hotplug of libvirt</a>
 */
public final class PciSlots {
  /** QEMU's i440FX has its own devices in slot 1, and libvirt keeps slot 2 for a display. */
  private static final int FIRST_OF_ROOT = 3;

  private static final int LAST_OF_ROOT = 31;
  private static final Pattern NUMBER = Pattern.compile("0[xX][0-9a-fA-F]{1,4}|[0-9]{1,4}");
  private static final Set<String> PORTS = Set.of("pcie-root-port", "pcie-switch-downstream-port");

  private PciSlots() {}

  /** A slot: function 0 of a device of a bus of PCI domain 0. */
  public record Slot(int bus, int device) {
    private static final Comparator<Slot> ORDER =
        Comparator.comparingInt(Slot::bus).thenComparingInt(Slot::device);

    /** Appends the address to a device that is to be attached. */
    public void appendTo(Element device) {
      Element address = Xml.add(device, "address");
      address.setAttribute("type", "pci");
      address.setAttribute("domain", "0x0000");
      address.setAttribute("bus", String.format("0x%02x", bus));
      address.setAttribute("slot", String.format("0x%02x", this.device));
      address.setAttribute("function", "0x0");
    }
  }

  /**
   * The free slots of a domain, in order. What cannot be read in the XML counts as absent.
   *
   * @param domain the root of a domain XML
   */
  public static Set<Slot> free(Element domain) {
    Set<Slot> free = new TreeSet<>(Slot.ORDER);
    for (Element devices : Xml.children(domain, "devices")) {
      for (Element controller : Xml.children(devices, "controller")) {
        if (controller.getAttribute("type").equals("pci")) {
          add(controller, free);
        }
      }
    }
    Xml.find(domain, "devices").ifPresent(devices -> takeUsed(devices, free));
    return free;
  }

  private static void add(Element controller, Set<Slot> free) {
    Optional<Integer> index = number(controller, "index");
    String model = controller.getAttribute("model");
    boolean fixed =
        Xml.find(controller, "target")
            .filter(t -> t.getAttribute("hotplug").equals("off"))
            .isPresent();
    if (index.isEmpty() || fixed) {
      return;
    }
    if (PORTS.contains(model)) {
      free.add(new Slot(index.get(), 0));
    } else if (model.equals("pci-root") && index.get() == 0) {
      for (int device = FIRST_OF_ROOT; device <= LAST_OF_ROOT; device++) {
        free.add(new Slot(0, device));
      }
    }
  }

  private static void takeUsed(Element devices, Set<Slot> free) {
    for (var node = devices.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element device) {
        for (Element address : Xml.children(device, "address")) {
          Optional<Integer> bus = number(address, "bus");
          Optional<Integer> slot = number(address, "slot");
          if (bus.isPresent() && slot.isPresent()) {
            free.remove(new Slot(bus.get(), slot.get()));
          }
        }
      }
    }
  }

  private static Optional<Integer> number(Element element, String name) {
    return Optional.of(element.getAttribute(name))
        .filter(text -> NUMBER.matcher(text).matches())
        .map(
            text ->
                text.length() > 1 && text.startsWith("0") && !text.matches("0[xX].*")
                    ? Integer.valueOf(text) // decode would read it as octal
                    : Integer.decode(text));
  }
}
