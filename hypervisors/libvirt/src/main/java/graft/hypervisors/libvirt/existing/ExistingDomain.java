package graft.hypervisors.libvirt.existing;

import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.w3c.dom.Element;

/**
 * A domain that somebody else made, by its XML. Whoever made it is not trusted: what has not the
 * expected form counts as absent.
 *
 * @param definition the root of its persistent definition; empty for a transient domain
 * @param live the root of its present XML; empty if it does not run
 */
public record ExistingDomain(Optional<Element> definition, Optional<Element> live) {
  private static final String AGENT = "org.qemu.guest_agent.0";
  private static final Pattern CID = Pattern.compile("[0-9]{1,10}");
  private static final long FIRST_CID = 3;
  private static final long LAST_CID = 0xffff_fffeL;

  /** What connects it to this host. */
  public enum Card {
    /** No network card. */
    NONE,
    /** QEMU's user-mode network, in which this host has an address of its own. */
    USER,
    /** A network on which the guest has an address. */
    NETWORK
  }

  /**
   * Reads a domain.
   *
   * @throws graft.hypervisors.libvirt.calls.NotFoundException if it was removed meanwhile
   */
  public static ExistingDomain of(ObservedGuest seen) {
    Guest guest = seen.guest();
    boolean runs = seen.state().isActive();
    return new ExistingDomain(
        seen.persistent()
            ? Optional.of(guest.definitionXml().getDocumentElement())
            : Optional.empty(),
        runs ? Optional.of(guest.xml().getDocumentElement()) : Optional.empty());
  }

  private Element now() {
    return live.or(() -> definition).orElseThrow();
  }

  private List<Element> devices(String name) {
    return Xml.find(now(), "devices").map(all -> Xml.children(all, name)).orElse(List.of());
  }

  /** Whether it has a channel to a guest agent. */
  public boolean hasAgentChannel() {
    return devices("channel").stream()
        .flatMap(channel -> Xml.children(channel, "target").stream())
        .anyMatch(target -> target.getAttribute("name").equals(AGENT));
  }

  /** Whether it has a vsock device. */
  public boolean hasVsock() {
    return !devices("vsock").isEmpty();
  }

  /** Its vsock address; empty if it has none that stays the same at its next start. */
  public Optional<Long> cid() {
    return devices("vsock").stream()
        .flatMap(vsock -> Xml.children(vsock, "cid").stream())
        .filter(cid -> !cid.getAttribute("auto").equals("yes"))
        .map(cid -> cid.getAttribute("address"))
        .filter(text -> CID.matcher(text).matches())
        .map(Long::valueOf)
        .filter(cid -> cid >= FIRST_CID && cid <= LAST_CID)
        .findFirst();
  }

  /** Its first network card. */
  public Card card() {
    return devices("interface").stream()
        .findFirst()
        .map(card -> card.getAttribute("type").equals("user") ? Card.USER : Card.NETWORK)
        .orElse(Card.NONE);
  }

  /** The slots that are free now and at its next start. */
  public Set<PciSlots.Slot> freeSlots() {
    Set<PciSlots.Slot> free = PciSlots.free(now());
    definition.ifPresent(root -> free.retainAll(PciSlots.free(root)));
    return free;
  }

  /**
   * The devices of this host and the shared memory that it has now and at its next start: PCI
   * addresses, UUIDs and names.
   */
  public Set<String> attached() {
    Set<String> attached = attached(now());
    definition.ifPresent(root -> attached.retainAll(attached(root)));
    return attached;
  }

  /** The devices of this host and the shared memory in one of its two definitions. */
  public static Set<String> attached(Element domain) {
    Set<String> found = new LinkedHashSet<>();
    HostdevElement.read(domain).forEach(device -> found.add(device.toString()));
    Xml.find(domain, "devices").stream()
        .flatMap(all -> Xml.children(all, "shmem").stream())
        .flatMap(shmem -> Stream.of(shmem.getAttribute("name")))
        .forEach(found::add);
    return found;
  }
}
