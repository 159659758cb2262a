package graft.deployment.step.device;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.w3c.dom.Element;

/**
 * A network card or a disk of a domain: attached to its definition and to the running guest, and
 * detached from both.
 *
 * @param tag the name of its element
 * @param child the element in it that distinguishes it, and that element's attribute
 * @param value the attribute's value, regardless of case
 * @param words the device in a message
 */
record DomainDevice(String tag, String child, String attribute, String value, String words) {
  /** The card with that Ethernet address. */
  static DomainDevice card(String mac) {
    return new DomainDevice("interface", "mac", "address", mac, "its network card " + mac);
  }

  /** The disk in that file. */
  static DomainDevice disk(String file) {
    return new DomainDevice("disk", "source", "file", file, "its disk " + file);
  }

  /** Whether a guest is there with such a definition; one that was not examined counts as such. */
  static boolean isDefined(
      Snapshot snapshot, String guest, String uuid, Predicate<DefinitionFacts> wanted) {
    Optional<GuestFacts> found = snapshot.libvirt().guest(guest, uuid);
    return found.isPresent() && found.get().definition().map(wanted::test).orElse(true);
  }

  /**
   * Attaches it where it is not there.
   *
   * @param xml its element
   */
  void attach(Guest domain, String xml) {
    if (in(domain.definitionXml().getDocumentElement()).isEmpty()) {
      domain.attach(Xml.parse(xml).getDocumentElement(), Set.of(DeviceScope.CONFIG));
    }
    if (isLive(domain).isEmpty() && domain.state().isActive()) {
      domain.attach(Xml.parse(xml).getDocumentElement(), Set.of(DeviceScope.LIVE));
    }
  }

  /** Detaches it where it is there; a running guest's system has to release it. */
  void detach(Guest domain, StepContext context, Step step) throws InterruptedException {
    Optional<Element> live = isLive(domain);
    if (live.isPresent()) {
      HotUnplug.run(
          domain,
          live.get(),
          () -> isLive(domain).isPresent(),
          context,
          step,
          () ->
              new StepFailure(
                  "the guest '" + domain.name() + "' does not release " + words,
                  "stop what uses it there, or shut the guest down, then try again"));
    }
    in(domain.definitionXml().getDocumentElement())
        .ifPresent(element -> domain.detach(element, Set.of(DeviceScope.CONFIG)));
  }

  private Optional<Element> isLive(Guest domain) {
    return domain.state().isActive() ? in(domain.xml().getDocumentElement()) : Optional.empty();
  }

  /** Its element in a domain. */
  Optional<Element> in(Element domain) {
    List<Element> devices =
        Xml.children(domain, "devices").stream()
            .flatMap(all -> Xml.children(all, tag).stream())
            .toList();
    return devices.stream()
        .filter(
            one ->
                Xml.find(one, child)
                    .filter(found -> found.getAttribute(attribute).equalsIgnoreCase(value))
                    .isPresent())
        .findFirst();
  }
}
