package graft.hypervisors.libvirt.calls;

import com.sun.jna.Library;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.DomainPointer;

/**
 * What libvirt-java 0.5.4 does not bind, or binds in a form that cannot be used here. Signatures
 * from libvirt's headers; lists come back as arrays of pointers that the caller frees.
 */
public interface LibvirtExtras extends Library {

  int virGetLastErrorCode();

  int virGetLastErrorDomain();

  String virGetLastErrorMessage();

  /** The handler is a native function here, which libvirt-java's signature does not allow. */
  void virSetErrorFunc(Pointer userData, Pointer handler);

  DomainPointer virDomainDefineXMLFlags(ConnectionPointer connection, String xml, int flags);

  int virDomainGetState(
      DomainPointer domain, IntByReference state, IntByReference reason, int flags);

  int virDomainDestroyFlags(DomainPointer domain, int flags);

  int virDomainShutdownFlags(DomainPointer domain, int flags);

  int virConnectListAllDomains(ConnectionPointer connection, PointerByReference list, int flags);

  int virConnectListAllNetworks(ConnectionPointer connection, PointerByReference list, int flags);

  /** Interfaces as an array of virDomainInterface pointers, read by {@code InterfaceAddresses}. */
  int virDomainInterfaceAddresses(
      DomainPointer domain, PointerByReference list, int source, int flags);

  void virDomainInterfaceFree(Pointer networkInterface);
}
