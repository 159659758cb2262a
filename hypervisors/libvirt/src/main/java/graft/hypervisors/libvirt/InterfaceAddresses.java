package graft.hypervisors.libvirt;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import graft.hypervisors.libvirt.domain.MacAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Addresses of one of a guest's network interfaces.
 *
 * @param name the guest's name for it from the agent, else the host's
 * @param mac absent for interfaces without one
 * @param addresses each with its prefix length, {@code 192.168.122.7/24}
 */
public record InterfaceAddresses(String name, Optional<MacAddress> mac, List<Address> addresses) {
  public InterfaceAddresses {
    addresses = List.copyOf(addresses);
  }

  /**
   * An IP address.
   *
   * @param text in numbers, version 4 or 6
   * @param prefix length of the network part in bits
   */
  public record Address(String text, int prefix) {
    @Override
    public String toString() {
      return text + "/" + prefix;
    }
  }

  private static final int POINTER = com.sun.jna.Native.POINTER_SIZE;

  /** struct _virDomainIPAddress: int type, char *addr, unsigned prefix, padded. */
  private static final int ADDRESS_SIZE = 3 * POINTER;

  /** Reads and frees what virDomainInterfaceAddresses returned. */
  static List<InterfaceAddresses> take(PointerByReference list, int count) {
    List<InterfaceAddresses> found = new ArrayList<>();
    Pointer array = list.getValue();
    for (int i = 0; i < count; i++) {
      Pointer one = array.getPointer((long) i * POINTER);
      found.add(read(one));
      LibvirtLibrary.extras().virDomainInterfaceFree(one);
    }
    NativeList.free(array);
    return found;
  }

  /** struct _virDomainInterface: char *name, char *hwaddr, unsigned naddrs, padded, addrs. */
  private static InterfaceAddresses read(Pointer at) {
    Pointer name = at.getPointer(0);
    Pointer mac = at.getPointer(POINTER);
    int count = at.getInt(2L * POINTER);
    Pointer addresses = at.getPointer(3L * POINTER);
    List<Address> found = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Pointer one = addresses.share((long) i * ADDRESS_SIZE);
      found.add(
          new Address(one.getPointer(POINTER).getString(0, "UTF-8"), one.getInt(2L * POINTER)));
    }
    return new InterfaceAddresses(
        name.getString(0, "UTF-8"),
        Optional.ofNullable(mac).map(p -> p.getString(0)).flatMap(InterfaceAddresses::ethernet),
        found);
  }

  /** InfiniBand interfaces have 20-byte addresses, which are none of ours. */
  private static Optional<MacAddress> ethernet(String text) {
    try {
      return Optional.of(new MacAddress(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
