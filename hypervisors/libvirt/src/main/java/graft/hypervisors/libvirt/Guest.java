package graft.hypervisors.libvirt;

import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.calls.AddressSource;
import graft.hypervisors.libvirt.calls.Attempt;
import graft.hypervisors.libvirt.calls.Connection;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.libvirt.jna.CString;
import org.libvirt.jna.ConnectionPointer;
import org.libvirt.jna.DomainPointer;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.virDomainInfo;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * A guest of a host. The object holds a name and a UUID and no native resources, so that it need
 * not be closed. Each method looks the domain up again and throws {@link NotFoundException} if the
 * domain no longer exists, and {@link HypervisorException} if libvirt fails.
 */
public final class Guest {
  /** As often as libbpf. */
  private static final int MOST_STARTS = 5;

  private static final int MOST_ENDS = 5;

  /** virDomainMetadataType: an element in Graft's namespace. */
  private static final int METADATA_ELEMENT = 2;

  /** virDomainModificationImpact: the running guest and its definition, if they exist. */
  private static final int AFFECT_CURRENT = 0;

  static final int AFFECT_LIVE = 1;
  static final int AFFECT_CONFIG = 2;

  /** virDomainXMLFlags: the definition, even while the guest runs. */
  private static final int XML_INACTIVE = 2;

  private static final int UUID_TEXT_SIZE = 37;

  private final Connection connection;
  private final String name;
  private final UUID uuid;

  private Guest(Connection connection, String name, UUID uuid) {
    this.connection = connection;
    this.name = name;
    this.uuid = uuid;
  }

  /** Reads the name and the UUID. The caller keeps ownership of the pointer. */
  static Guest of(Connection connection, DomainPointer domain) {
    Libvirt calls = LibvirtLibrary.calls();
    Attempt attempt = new Attempt("read the name of", "a guest at " + connection.uri());
    String name = attempt.check(calls.virDomainGetName(domain));
    byte[] uuid = new byte[UUID_TEXT_SIZE];
    attempt.check(calls.virDomainGetUUIDString(domain, uuid));
    return new Guest(
        connection,
        name,
        UUID.fromString(new String(uuid, 0, UUID_TEXT_SIZE - 1, StandardCharsets.US_ASCII)));
  }

  public String name() {
    return name;
  }

  public UUID uuid() {
    return uuid;
  }

  /** The guest's name and its host, for messages. */
  @Override
  public String toString() {
    return connection.target("guest", name);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Guest guest
        && guest.uuid.equals(uuid)
        && guest.connection.uri().equals(connection.uri());
  }

  @Override
  public int hashCode() {
    return uuid.hashCode();
  }

  public GuestState state() {
    return with(this::state);
  }

  private GuestState state(DomainPointer domain) {
    IntByReference state = new IntByReference();
    attempt("read the state of")
        .check(LibvirtLibrary.extras().virDomainGetState(domain, state, null, 0));
    return GuestState.of(state.getValue());
  }

  /** The number of the process that runs the guest; for a container libvirt's controller of it. */
  public int process() {
    return with(
        domain ->
            attempt("find the process of").check(LibvirtLibrary.calls().virDomainGetID(domain)));
  }

  /** Whether it is a container, whose processes are the host's own. */
  public boolean isContainer() {
    return connection.uri().driver().equals("lxc");
  }

  /** Whether QEMU emulates its CPUs, without KVM. */
  public boolean isEmulated() {
    return xml().getDocumentElement().getAttribute("type").equals("qemu");
  }

  /** The guest's state now. */
  public ObservedGuest observed() {
    return with(this::observe);
  }

  ObservedGuest observe(DomainPointer domain) {
    return new ObservedGuest(
        this,
        state(domain),
        attempt("look at").check(LibvirtLibrary.calls().virDomainIsPersistent(domain)) == 1,
        metadata(domain));
  }

  public GuestInfo info() {
    return with(
        domain -> {
          virDomainInfo info = new virDomainInfo();
          attempt("read the counters of")
              .check(LibvirtLibrary.calls().virDomainGetInfo(domain, info));
          return new GuestInfo(
              GuestState.of(info.state),
              info.nrVirtCpu,
              MemorySize.ofKib(info.maxMem.longValue()),
              MemorySize.ofKib(info.memory.longValue()),
              Duration.ofNanos(info.cpuTime));
        });
  }

  /**
   * Starts the guest. libvirt returns once the hypervisor runs, long before the guest has booted.
   *
   * @return false if the guest was already running: the daemon may have carried out the request of
   *     a killed process meanwhile
   */
  public boolean start() {
    return with(
        domain -> {
          for (int tries = 1; ; tries++) {
            if (LibvirtLibrary.calls().virDomainCreateWithFlags(domain, 0) >= 0) {
              return true;
            }
            HypervisorException failure = attempt("start").failure();
            if (state(domain).isActive()) {
              return false;
            }
            if (tries == MOST_STARTS || !TransientFailure.ofStart(failure)) {
              throw failure;
            }
          }
        });
  }

  /** Lets a paused guest go on. */
  public void resume() {
    run("resume", domain -> LibvirtLibrary.calls().virDomainResume(domain));
  }

  /**
   * Asks the guest's operating system to power off and returns at once. The guest may ignore the
   * request.
   */
  public void shutdown() {
    run("shut down", domain -> LibvirtLibrary.extras().virDomainShutdownFlags(domain, 0));
  }

  /**
   * Stops the guest at once, like a power failure. A guest without a definition then ceases to
   * exist.
   *
   * @return false if the guest was not running
   */
  public boolean destroy() {
    return with(
        domain -> {
          for (int tries = 1; ; tries++) {
            if (LibvirtLibrary.extras().virDomainDestroyFlags(domain, 0) >= 0) {
              return true;
            }
            HypervisorException failure = attempt("destroy").failure();
            if (failure.is(LibvirtError.Code.OPERATION_INVALID)) {
              return tries > 1;
            }
            if (tries == MOST_ENDS || !TransientFailure.ofDestroy(failure)) {
              throw failure;
            }
          }
        });
  }

  /**
   * Removes the guest's definition together with all state that the guest's libvirt driver keeps.
   */
  public void undefine() {
    undefine(UndefineOption.of(connection.uri()));
  }

  /**
   * Removes the guest's definition and the state that the options name. A running guest continues
   * until it stops.
   */
  public void undefine(Set<UndefineOption> options) {
    int bits = UndefineOption.bits(options);
    run("undefine", domain -> LibvirtLibrary.calls().virDomainUndefineFlags(domain, bits));
  }

  /** The whole domain XML as libvirt completed it; the live XML if the guest runs. */
  public Document xml() {
    return xml(0);
  }

  /** The domain XML that the next start will use. */
  public Document definitionXml() {
    return xml(XML_INACTIVE);
  }

  private Document xml(int flags) {
    return Xml.parse(xmlText(flags));
  }

  private String xmlText(int flags) {
    return with(
        domain ->
            attempt("read the XML of")
                .text(LibvirtLibrary.calls().virDomainGetXMLDesc(domain, flags)));
  }

  /**
   * The host devices of the guest: the present ones if the guest runs, else those of its next
   * start.
   */
  public List<HostdevSpec> hostDevices() {
    return hostDevices(xmlText(0));
  }

  /** The host devices that the guest will have at its next start. */
  public List<HostdevSpec> definedHostDevices() {
    return hostDevices(xmlText(XML_INACTIVE));
  }

  private static List<HostdevSpec> hostDevices(String xml) {
    // Most guests of a host have no host devices, and there may be hundreds of guests.
    return xml.contains("hostdev")
        ? HostdevElement.read(Xml.parse(xml).getDocumentElement())
        : List.of();
  }

  /**
   * The metadata that Graft stored in the domain; empty if the guest is not one of Graft's, or if
   * the metadata is invalid.
   */
  public Optional<GuestMetadata> metadata() {
    return with(this::metadata);
  }

  private Optional<GuestMetadata> metadata(DomainPointer domain) {
    CString xml =
        LibvirtLibrary.calls()
            .virDomainGetMetadata(
                domain, METADATA_ELEMENT, GuestMetadata.NAMESPACE, AFFECT_CURRENT);
    if (xml == null) {
      HypervisorException failure = attempt("read the metadata of").failure();
      // A guest of a driver without metadata is not one of Graft's.
      if (failure.is(LibvirtError.Code.NO_DOMAIN_METADATA)
          || failure.is(LibvirtError.Code.NO_SUPPORT)) {
        return Optional.empty();
      }
      throw failure;
    }
    try {
      return Optional.of(GuestMetadata.fromElement(Xml.parse(xml.toString()).getDocumentElement()));
    } catch (IllegalArgumentException e) {
      // The metadata is not Graft's. An invalid guest must not hide all other guests.
      return Optional.empty();
    }
  }

  /** Replaces the metadata that Graft stored in the domain, even while the guest runs. */
  public void setMetadata(GuestMetadata metadata) {
    String xml = metadata.toPlainXml();
    int flags = everywhere();
    run(
        "set the metadata of",
        domain ->
            LibvirtLibrary.calls()
                .virDomainSetMetadata(
                    domain,
                    METADATA_ELEMENT,
                    xml,
                    GuestMetadata.PREFIX,
                    GuestMetadata.NAMESPACE,
                    flags));
  }

  /** The bits for the running guest, if it runs, and for its definition, if it has one. */
  int everywhere() {
    ObservedGuest now = observed();
    return (now.state().isActive() ? AFFECT_LIVE : 0) | (now.persistent() ? AFFECT_CONFIG : 0);
  }

  /** How much memory and how many CPUs the guest has. */
  public GuestSize size() {
    return new GuestSize(this);
  }

  /** Attaches a device. */
  public void attach(Element device, Set<DeviceScope> scopes) {
    String xml = Xml.print(device);
    int flags = DeviceScope.bits(scopes);
    run(
        "attach a " + device.getTagName() + " to",
        domain -> LibvirtLibrary.calls().virDomainAttachDeviceFlags(domain, xml, flags));
  }

  /**
   * Detaches a device. If the guest runs, this method asks the guest's operating system to release
   * the device. The device is detached only once its element has disappeared from {@link #xml}.
   */
  public void detach(Element device, Set<DeviceScope> scopes) {
    String xml = Xml.print(device);
    int flags = DeviceScope.bits(scopes);
    run(
        "detach a " + device.getTagName() + " from",
        domain -> LibvirtLibrary.calls().virDomainDetachDeviceFlags(domain, xml, flags));
  }

  /** The addresses of the guest's interfaces that the source can report. */
  public List<InterfaceAddresses> addresses(AddressSource source) {
    return with(
        domain -> {
          PointerByReference list = new PointerByReference();
          int count =
              attempt("read the addresses of")
                  .check(
                      LibvirtLibrary.extras()
                          .virDomainInterfaceAddresses(domain, list, source.number(), 0));
          return InterfaceAddresses.take(list, count);
        });
  }

  /** The QEMU guest agent in this guest. */
  public GuestAgent agent() {
    return new GuestAgent(this);
  }

  /** The file to which the guest's first serial port is written; empty if the port has no file. */
  public Optional<ConsoleLog> consoleLog() {
    return ConsoleLog.of(connection.uri(), xml().getDocumentElement());
  }

  /** Whether the running guest's console is a terminal of its host, and no file. */
  public boolean consoleTakesInput() {
    return Xml.find(xml().getDocumentElement(), "devices").stream()
        .flatMap(devices -> Xml.children(devices, "console").stream())
        .limit(1)
        .anyMatch(console -> console.getAttribute("type").equals("pty"));
  }

  /**
   * Opens the guest's first console.
   *
   * @param force whether to take the console from whoever has it open now
   * @throws HypervisorException if the guest is off, if another program has the console open, or if
   *     the console takes no input
   */
  public GuestConsole openConsole(boolean force) {
    Connection.Lent own = connection.lend();
    try {
      return with(own.pointer(), domain -> GuestConsole.open(this, own, domain, force));
    } catch (RuntimeException e) {
      own.close();
      throw e;
    }
  }

  Attempt attempt(String action) {
    return new Attempt(action, toString());
  }

  void run(String action, ToIntFunction<DomainPointer> call) {
    with(domain -> attempt(action).check(call.applyAsInt(domain)));
  }

  /** Looks the domain up, passes the pointer to {@code call} and frees the pointer. */
  <T> T with(Function<DomainPointer, T> call) {
    return connection.with(c -> with(c, call));
  }

  private <T> T with(ConnectionPointer c, Function<DomainPointer, T> call) {
    Libvirt calls = LibvirtLibrary.calls();
    DomainPointer domain =
        attempt("find").check(calls.virDomainLookupByUUIDString(c, uuid.toString()));
    try {
      return call.apply(domain);
    } finally {
      calls.virDomainFree(domain);
    }
  }
}
