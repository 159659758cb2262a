package graft.sriov.host;

/**
 * A network interface of a device.
 *
 * @param name such as {@code ibp59s0} or {@code ens1f0}
 * @param index the interface's number in netlink
 * @param type the kernel's ARPHRD number: 1 Ethernet, 32 InfiniBand (Linux, if_arp.h)
 * @param port the device's port that the interface belongs to, from 0 ({@code dev_port})
 * @param portName the driver's name of the port: {@code p0}, and {@code pf0vf3} for the representor
 *     of a VF; empty if the driver gives none ({@code phys_port_name})
 * @param address the interface's link-layer address
 * @param state {@code up}, {@code down}, {@code unknown} ({@code operstate})
 */
public record NetInterface(
    String name, int index, int type, int port, String portName, String address, String state) {
  /** The type of Ethernet interfaces in the kernel's if_arp.h. */
  public static final int ETHERNET = 1;

  /** The type of IP over InfiniBand interfaces in the kernel's if_arp.h. */
  public static final int INFINIBAND = 32;

  /** Whether the interface represents a VF in the adapter's switch (Linux, switchdev.rst). */
  public boolean representor() {
    return portName.contains("vf") || portName.contains("sf");
  }

  public boolean infiniband() {
    return type == INFINIBAND;
  }
}
