package graft.hypervisors.libvirt;

import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.HostUnreachableException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.calls.NativeList;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.capabilities.CapabilitiesXml;
import graft.hypervisors.libvirt.capabilities.FileOwner;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.hypervisors.libvirt.capabilities.Version;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.DomainPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.NetworkFilterPointer;
import org.libvirt.jna.virNodeInfo;
import org.w3c.dom.Document;

/**
 * A host, accessed through its libvirt daemon. Several threads may call the methods. All methods
 * throw {@link HypervisorException}, and {@link IllegalStateException} after {@link #close}.
 */
public final class LibvirtHost implements AutoCloseable {

  /** virDomainDefineFlags: check the XML against libvirt's schema. */
  private static final int DEFINE_VALIDATE = 1;

  private final Connection connection;

  /**
   * Held while libvirt checks XML against its schema. A daemon that reads the schema for the first
   * time in two threads at once may find that the schema's types are unknown (libvirt 9.0).
   */
  private final Object validating = new Object();

  private HostCapabilities capabilities;

  private LibvirtHost(Connection connection) {
    this.connection = connection;
  }

  /**
   * Connects to a daemon.
   *
   * @throws HostUnreachableException with a message that names the socket and what to start or
   *     install
   */
  public static LibvirtHost open(LibvirtUri uri) {
    return new LibvirtHost(Connection.open(uri));
  }

  /**
   * Connects to a daemon.
   *
   * @param uri as {@code qemu:///system}
   * @throws IllegalArgumentException if the text is not a URI
   * @throws HostUnreachableException with a message that names the socket and what to start or
   *     install
   */
  public static LibvirtHost open(String uri) {
    return open(LibvirtUri.parse(uri));
  }

  public LibvirtUri uri() {
    return connection.uri();
  }

  /**
   * The properties of the host and the guests that it can run. The first call asks the daemon and
   * keeps the result. The first connection after a start of the daemon may wait here for some ten
   * seconds while the daemon probes its emulators.
   */
  public synchronized HostCapabilities capabilities() {
    if (capabilities == null) {
      capabilities = connection.with(this::readCapabilities);
    }
    return capabilities;
  }

  private HostCapabilities readCapabilities(ConnectionPointer c) {
    Libvirt calls = LibvirtLibrary.calls();
    Attempt attempt = new Attempt("read the capabilities of", uri().toString());
    CapabilitiesXml xml = new CapabilitiesXml(attempt.text(calls.virConnectGetCapabilities(c)));
    virNodeInfo node = new virNodeInfo();
    attempt.check(calls.virNodeGetInfo(c, node));
    LongByReference libvirt = new LongByReference();
    attempt.check(calls.virConnectGetLibVersion(c, libvirt));
    LongByReference hypervisor = new LongByReference();
    attempt.check(calls.virConnectGetVersion(c, hypervisor));
    return new HostCapabilities(
        uri(),
        attempt.text(calls.virConnectGetHostname(c)),
        attempt.check(calls.virConnectGetType(c)),
        Optional.of(hypervisor.getValue()).filter(v -> v != 0).map(Version::decode),
        Version.decode(libvirt.getValue()),
        xml.arch(),
        node.cpus,
        MemorySize.ofKib(node.memory.longValue()),
        xml.numaCells(),
        xml.iommu(),
        xml.guests());
  }

  /** The owner of the files of running guests; empty if libvirt does not change the owner. */
  public Optional<FileOwner> guestOwner() {
    return connection.with(
        c ->
            new CapabilitiesXml(
                    new Attempt("read the capabilities of", uri().toString())
                        .text(LibvirtLibrary.calls().virConnectGetCapabilities(c)))
                .guestOwner());
  }

  /** The host's memory that no guest and no process uses at present. */
  public MemorySize freeMemory() {
    return connection.with(
        c -> {
          long bytes = LibvirtLibrary.calls().virNodeGetFreeMemory(c);
          if (bytes == 0) {
            throw new Attempt("read the free memory of", uri().toString()).failure();
          }
          return new MemorySize(bytes);
        });
  }

  /** All guests, running or not, in the order of their names. */
  public List<ObservedGuest> guests() {
    return connection.with(
        c -> {
          PointerByReference list = new PointerByReference();
          int count =
              new Attempt("list the guests of", uri().toString())
                  .check(LibvirtLibrary.extras().virConnectListAllDomains(c, list, 0));
          return NativeList.take(
                  list,
                  count,
                  DomainPointer::new,
                  this::observe,
                  LibvirtLibrary.calls()::virDomainFree)
              .stream()
              .flatMap(Optional::stream)
              .sorted(Comparator.comparing(ObservedGuest::name))
              .toList();
        });
  }

  /** Empty if the guest ceased to exist after it was listed. */
  private Optional<ObservedGuest> observe(DomainPointer domain) {
    Guest guest = Guest.of(connection, domain);
    try {
      return Optional.of(guest.observe(domain));
    } catch (NotFoundException e) {
      return Optional.empty();
    }
  }

  /** The guest with that name; empty if there is none. */
  public Optional<Guest> guest(String name) {
    return connection.with(
        c -> {
          DomainPointer domain = LibvirtLibrary.calls().virDomainLookupByName(c, name);
          if (domain == null) {
            HypervisorException failure =
                new Attempt("look up", connection.target("guest", name)).failure();
            if (failure instanceof NotFoundException) {
              return Optional.empty();
            }
            throw failure;
          }
          return Optional.of(take(domain));
        });
  }

  /** The guest with that UUID, whatever its name is now; empty if there is none. */
  public Optional<Guest> guest(UUID uuid) {
    return connection.with(
        c -> {
          DomainPointer domain =
              LibvirtLibrary.calls().virDomainLookupByUUIDString(c, uuid.toString());
          if (domain == null) {
            HypervisorException failure =
                new Attempt("look up", connection.target("guest", uuid.toString())).failure();
            if (failure instanceof NotFoundException) {
              return Optional.empty();
            }
            throw failure;
          }
          return Optional.of(take(domain));
        });
  }

  /** Defines a guest without starting it. libvirt checks the XML against its schema. */
  public Guest define(Document domainXml) {
    return define(Xml.print(domainXml), true);
  }

  /**
   * Defines a guest without starting it. An existing guest with the same UUID is redefined. An
   * existing guest with the same name and another UUID is an error.
   *
   * @param validate whether libvirt checks the XML against its schema, which detects misspelt
   *     elements that libvirt would otherwise ignore
   */
  public Guest define(String domainXml, boolean validate) {
    if (!validate) {
      return define(domainXml, 0);
    }
    synchronized (validating) {
      return define(domainXml, DEFINE_VALIDATE);
    }
  }

  private Guest define(String domainXml, int flags) {
    return connection.with(
        c ->
            take(
                new Attempt("define", "a guest at " + uri())
                    .check(LibvirtLibrary.extras().virDomainDefineXMLFlags(c, domainXml, flags))));
  }

  private Guest take(DomainPointer domain) {
    try {
      return Guest.of(connection, domain);
    } finally {
      free(domain);
    }
  }

  private static void free(DomainPointer domain) {
    LibvirtLibrary.calls().virDomainFree(domain);
  }

  /** The networks that libvirt manages. */
  public Networks networks() {
    return new Networks(connection);
  }

  /** Whether a filter of network traffic is defined; false where libvirt has no such filters. */
  public boolean hasNetworkFilter(String name) {
    return connection.with(
        c -> {
          Libvirt calls = LibvirtLibrary.calls();
          NetworkFilterPointer filter = calls.virNWFilterLookupByName(c, name);
          if (filter == null) {
            return false;
          }
          calls.virNWFilterFree(filter);
          return true;
        });
  }

  /** Closes the connection; guests keep running. Calls in progress are not waited for. */
  @Override
  public void close() {
    connection.close();
  }
}
