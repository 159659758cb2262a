package graft.hypervisors.libvirt;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import graft.common.values.MacAddress;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NativeList;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The addresses of one network interface of a guest.
 *
 * <p>An agent may report anything: everything that is not a numeric address is left out.
 *
 * @param name the interface's name in the guest if the agent reports it, else its name on the host;
 *     for messages only
 * @param mac absent if the interface has no MAC address
 * @param addresses each with its prefix length, {@code 192.168.122.7/24}
 */
public record InterfaceAddresses(String name, Optional<MacAddress> mac, List<Address> addresses) {
  public InterfaceAddresses {
    addresses = List.copyOf(addresses);
  }

  /**
   * An IP address with its prefix length.
   *
   * @param prefix the length of the network part in bits
   */
  public record Address(IpAddress ip, int prefix) {
    @Override
    public String toString() {
      return ip + "/" + prefix;
    }
  }

  /**
   * The maximum length of a name in a message: longer than the name of a Linux interface
   * (IFNAMSIZ). Names in Windows can be even longer.
   */
  private static final int NAME_SHOWN = 64;

  private static final int POINTER = com.sun.jna.Native.POINTER_SIZE;

  /** struct _virDomainIPAddress: int type, char *addr, unsigned prefix, padded. */
  private static final int ADDRESS_SIZE = 3 * POINTER;

  /** Reads the result of virDomainInterfaceAddresses and frees it. */
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
  static InterfaceAddresses read(Pointer at) {
    Pointer name = at.getPointer(0);
    Pointer mac = at.getPointer(POINTER);
    int count = at.getInt(2L * POINTER);
    Pointer addresses = at.getPointer(3L * POINTER);
    List<Address> found = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Pointer one = addresses.share((long) i * ADDRESS_SIZE);
      int prefix = one.getInt(2L * POINTER);
      text(one.getPointer(POINTER))
          .flatMap(IpAddress::find)
          .filter(ip -> prefix >= 0 && prefix <= (ip.isIpv4() ? 32 : 128))
          .ifPresent(ip -> found.add(new Address(ip, prefix)));
    }
    return new InterfaceAddresses(
        GuestText.line(text(name).orElse(""), NAME_SHOWN),
        text(mac).flatMap(InterfaceAddresses::ethernet),
        found);
  }

  private static Optional<String> text(Pointer at) {
    return Optional.ofNullable(at).map(p -> p.getString(0, "UTF-8"));
  }

  /** InfiniBand interfaces have 20-byte addresses, which are not MAC addresses. */
  private static Optional<MacAddress> ethernet(String text) {
    try {
      return Optional.of(MacAddress.parse(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
