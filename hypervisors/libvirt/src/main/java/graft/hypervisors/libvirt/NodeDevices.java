package graft.hypervisors.libvirt;

import com.sun.jna.ptr.PointerByReference;
import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NativeList;
import graft.hypervisors.libvirt.calls.NotFoundException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.libvirt.jna.DevicePointer;
import org.libvirt.jna.Libvirt;

/** The host's PCI functions through libvirt, which works for remote hosts too. */
public final class NodeDevices {

  /** virConnectListAllNodeDeviceFlags. */
  private static final int LIST_PCI = 1 << 1;

  private final Connection connection;

  NodeDevices(Connection connection) {
    this.connection = connection;
  }

  /** All PCI functions in the order of their addresses. */
  public List<NodeDevice> pci() {
    return connection.with(
        c -> {
          PointerByReference list = new PointerByReference();
          int count =
              new Attempt("list the devices of", connection.uri().toString())
                  .check(LibvirtLibrary.extras().virConnectListAllNodeDevices(c, list, LIST_PCI));
          return NativeList.take(
                  list, count, DevicePointer::new, this::read, calls()::virNodeDeviceFree)
              .stream()
              .sorted(Comparator.comparing(NodeDevice::address))
              .toList();
        });
  }

  /** The function at that address; empty when there is none. */
  public Optional<NodeDevice> find(PciAddress address) {
    try {
      return Optional.of(with(address, this::read));
    } catch (NotFoundException e) {
      return Optional.empty();
    }
  }

  private NodeDevice read(DevicePointer device) {
    return NodeDeviceXml.pci(
        new Attempt("read the XML of", "a device at " + connection.uri())
            .text(calls().virNodeDeviceGetXMLDesc(device, 0)));
  }

  /**
   * Takes a function from its driver for passthrough, to the driver that suits the hypervisor
   * (vfio-pci, pciback).
   */
  public void detach(PciAddress address) {
    detach(address, null);
  }

  /**
   * Takes a function from its driver for passthrough.
   *
   * @param driver libvirt's name, {@code vfio} or {@code xen}; null for the hypervisor's own
   */
  public void detach(PciAddress address, String driver) {
    run(
        "detach",
        address,
        device -> LibvirtLibrary.extras().virNodeDeviceDetachFlags(device, driver, 0));
  }

  /** Gives a detached function back to the driver that it had. */
  public void reattach(PciAddress address) {
    run("reattach", address, device -> calls().virNodeDeviceReAttach(device));
  }

  /** Resets a function, as far as it can be without its neighbours. */
  public void reset(PciAddress address) {
    run("reset", address, device -> calls().virNodeDeviceReset(device));
  }

  private void run(String action, PciAddress address, ToIntFunction<DevicePointer> call) {
    with(address, device -> attempt(action, address).check(call.applyAsInt(device)));
  }

  private <T> T with(PciAddress address, Function<DevicePointer, T> call) {
    return connection.with(
        c -> {
          DevicePointer device =
              attempt("find", address).check(calls().virNodeDeviceLookupByName(c, name(address)));
          try {
            return call.apply(device);
          } finally {
            calls().virNodeDeviceFree(device);
          }
        });
  }

  /** libvirt's name for a function's node device, {@code pci_0000_04_10_0}. */
  static String name(PciAddress address) {
    return "pci_" + address.toString().replace(':', '_').replace('.', '_');
  }

  private Attempt attempt(String action, PciAddress address) {
    return new Attempt(action, connection.target("PCI device", address.toString()));
  }

  private static Libvirt calls() {
    return LibvirtLibrary.calls();
  }
}
