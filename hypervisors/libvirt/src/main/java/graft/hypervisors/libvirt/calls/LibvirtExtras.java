package graft.hypervisors.libvirt.calls;

import com.sun.jna.Library;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.DomainPointer;
import org.libvirt.jna.StreamPointer;

/**
 * Functions of libvirt that libvirt-java 0.5.4 does not bind, or binds in an unsuitable form. The
 * signatures come from libvirt's headers; lists are returned as arrays of pointers that the caller
 * frees.
 */
public interface LibvirtExtras extends Library {

  int virGetLastErrorCode();

  int virGetLastErrorDomain();

  String virGetLastErrorMessage();

  /** The handler is a native function here, which the signature in libvirt-java does not allow. */
  void virSetErrorFunc(Pointer userData, Pointer handler);

  DomainPointer virDomainDefineXMLFlags(ConnectionPointer connection, String xml, int flags);

  int virDomainGetState(
      DomainPointer domain, IntByReference state, IntByReference reason, int flags);

  int virDomainDestroyFlags(DomainPointer domain, int flags);

  int virDomainShutdownFlags(DomainPointer domain, int flags);

  int virConnectListAllDomains(ConnectionPointer connection, PointerByReference list, int flags);

  int virConnectListAllNetworks(ConnectionPointer connection, PointerByReference list, int flags);

  /**
   * Returns interfaces as an array of virDomainInterface pointers, which {@code InterfaceAddresses}
   * reads.
   */
  int virDomainInterfaceAddresses(
      DomainPointer domain, PointerByReference list, int source, int flags);

  void virDomainInterfaceFree(Pointer networkInterface);

  /** The memory is in KiB. */
  int virDomainSetMemoryFlags(DomainPointer domain, NativeLong memory, int flags);

  /** The device is the first console of the guest if its name is null. */
  int virDomainOpenConsole(DomainPointer domain, String device, StreamPointer stream, int flags);
}
