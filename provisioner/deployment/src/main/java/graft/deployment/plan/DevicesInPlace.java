package graft.deployment.plan;

import graft.common.values.Name;
import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.journal.Entry;
import graft.deployment.observe.DefinedDevices;
import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachCard;
import graft.deployment.step.device.AttachDisk;
import graft.deployment.step.device.DetachCard;
import graft.deployment.step.guest.DefineGuest;
import graft.hypervisors.libvirt.GuestFeature;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Element;

/**
 * How a guest that exists gets the network cards and disks of its descriptor. Where a new
 * definition would differ from the one that was made in nothing else, the guest keeps that
 * definition, and steps attach and detach what differs while it runs. Else the guest is defined
 * anew and restarts.
 */
final class DevicesInPlace {
  private final PlanInput input;
  private final Guest guest;
  private final DefineGuest made;
  private final DefinedDevices was;
  private final DefinedDevices is;
  private final List<Step> there;
  private final Set<String> macs = new HashSet<>();
  private final Set<String> targets = new HashSet<>();
  private final List<Step> steps = new ArrayList<>();
  private final List<String> obstacles = new ArrayList<>();
  private int more;

  /**
   * The result.
   *
   * @param define the definition, which may be an earlier one
   * @param steps what attaches and detaches devices after it
   * @param obstacle why the guest has to restart for its devices; empty if it does not, or has to
   *     for other reasons
   */
  record Result(DefineGuest define, List<Step> steps, String obstacle) {}

  /**
   * Compares.
   *
   * @param wanted the guest's definition with all of its devices
   */
  static Result of(PlanInput input, Guest guest, DefineGuest wanted) {
    Optional<DefineGuest> made = input.journal().step(wanted.id(), DefineGuest.class);
    DefineGuest define = wanted.orMade(made);
    boolean other = made.isPresent() && !define.equals(made.get());
    if (!other
        || seen(input, wanted).isEmpty()
        || !GuestDomain.features(input, guest).contains(GuestFeature.HOT_PLUG)) {
      return new Result(define, List.of(), "");
    }
    DevicesInPlace devices = new DevicesInPlace(input, guest, made.get(), wanted);
    if (!made.get().isLike(wanted) || !devices.was.rest().equals(devices.is.rest())) {
      return new Result(wanted, List.of(), "");
    }
    devices.cards();
    devices.disks();
    devices.slots();
    return devices.obstacles.isEmpty()
        ? new Result(made.get(), devices.steps, "")
        : new Result(wanted, List.of(), String.join("; ", devices.obstacles));
  }

  private static Optional<GuestFacts> seen(PlanInput input, DefineGuest define) {
    return input
        .snapshot()
        .libvirt()
        .guest(define.guest(), define.uuid())
        .filter(GuestFacts::persistent);
  }

  private DevicesInPlace(PlanInput input, Guest guest, DefineGuest made, DefineGuest wanted) {
    this.input = input;
    this.guest = guest;
    this.made = made;
    this.was = DefinedDevices.of(made.withTerminal().xml());
    this.is = DefinedDevices.of(wanted.xml());
    Chain chain = Chain.guest(made.guest());
    this.there =
        input.journal().entries().values().stream()
            .map(Entry::step)
            .filter(step -> step.chain().equals(chain))
            .toList();
  }

  private <T extends Step> List<T> plugged(Class<T> type) {
    return there.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** A card of the guest, and the step that attached it, if it was not defined with the guest. */
  private record Card(Element element, Optional<AttachCard> step) {
    String mac() {
      return DevicesInPlace.mac(element);
    }
  }

  private void cards() {
    List<Card> left = present();
    left.forEach(card -> macs.add(card.mac()));
    List<Nic> nics = new GuestCards(input, guest).nics();
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < nics.size(); i++) {
      Element wanted = is.cards().get(i);
      boolean chosen = nics.get(i).mac().isPresent();
      Optional<Card> same =
          left.stream()
              .filter(card -> sameCard(card.element(), wanted))
              .filter(card -> !chosen || card.mac().equals(mac(wanted)))
              .findFirst();
      if (same.isPresent()) {
        left.remove(same.get());
        same.get().step().ifPresent(steps::add);
      } else {
        missing.add(i);
      }
    }
    for (int i : missing) {
      attach(is.cards().get(i), nics.get(i).mac().isPresent(), left, nics.size());
    }
    left.stream().filter(card -> card.step().isEmpty()).forEach(card -> detach(card.element()));
  }

  /** The cards that the guest was made with or got later; last those that it has lost since. */
  private List<Card> present() {
    List<Card> cards = new ArrayList<>();
    Set<String> lost = new HashSet<>();
    plugged(DetachCard.class).forEach(step -> lost.add(step.mac()));
    List<Card> first = was.cards().stream().map(card -> new Card(card, Optional.empty())).toList();
    first.stream().filter(card -> !lost.contains(card.mac())).forEach(cards::add);
    plugged(AttachCard.class)
        .forEach(
            step ->
                cards.add(new Card(Xml.parse(step.xml()).getDocumentElement(), Optional.of(step))));
    first.stream().filter(card -> lost.contains(card.mac())).forEach(cards::add);
    return cards;
  }

  private void attach(Element card, boolean chosen, List<Card> left, int next) {
    String network = DefinitionFacts.network(card);
    if (isClosed(card)) {
      obstacles.add("libvirt cannot attach a card on a closed network while a guest runs");
      return;
    }
    String mac = mac(card);
    boolean changes =
        left.stream()
            .filter(other -> DefinitionFacts.network(other.element()).equals(network))
            .anyMatch(other -> other.mac().equals(mac));
    if (changes || (chosen && macs.contains(mac))) {
      obstacles.add(
          changes
              ? "its card on '" + network + "' gets other settings"
              : "another of its cards has the address " + mac);
      return;
    }
    String free = mac;
    String deployment = input.descriptor().deploymentName().text();
    for (int i = next; macs.contains(free); i++) {
      free = Identities.mac(deployment, made.guest(), i).toString();
    }
    macs.add(free);
    setMac(card, free);
    more++;
    steps.add(
        new AttachCard(made.uri(), made.guest(), made.uuid(), free, network, Xml.print(card)));
  }

  private void detach(Element card) {
    String network = DefinitionFacts.network(card);
    if (isClosed(card)) {
      obstacles.add("its card on the closed network is removed");
    } else if (isRemoved(network)) {
      // A network is removed before guests get their new devices.
      obstacles.add("the network '" + network + "' of its card is removed");
    } else {
      steps.add(
          new DetachCard(
              made.uri(), made.guest(), made.uuid(), mac(card), network, Xml.print(card)));
    }
  }

  /** Whether a network that this deployment has made or started is no longer among its networks. */
  private boolean isRemoved(String network) {
    Chain chain = Chain.network(network);
    return input.journal().entries().values().stream()
            .anyMatch(entry -> entry.step().chain().equals(chain))
        && NetworkSteps.used(input).stream().map(Name::text).noneMatch(network::equals);
  }

  private static boolean isClosed(Element card) {
    return card.getAttribute("type").equals("client");
  }

  private static String mac(Element card) {
    return Xml.find(card, "mac")
        .map(mac -> mac.getAttribute("address").toLowerCase(Locale.ROOT))
        .orElse("");
  }

  private static void setMac(Element card, String mac) {
    Xml.find(card, "mac").ifPresent(element -> element.setAttribute("address", mac));
    Xml.find(card, "filterref", "parameter")
        .ifPresent(parameter -> parameter.setAttribute("value", mac));
  }

  /** Whether two cards differ at most in their Ethernet addresses. */
  private static boolean sameCard(Element one, Element other) {
    return withoutMac(one).equals(withoutMac(other));
  }

  private static String withoutMac(Element card) {
    Element copy = (Element) card.cloneNode(true);
    setMac(copy, "");
    return Xml.print(copy);
  }

  private void disks() {
    List<AttachDisk> plugged = plugged(AttachDisk.class);
    targets.addAll(was.targets());
    plugged.forEach(step -> targets.add(target(Xml.parse(step.xml()).getDocumentElement())));
    List<Element> left = new ArrayList<>(was.disks());
    for (Element wanted : is.disks()) {
      String file = DefinedDevices.file(wanted);
      Optional<Element> same = left.stream().filter(d -> sameDisk(d, wanted)).findFirst();
      Optional<AttachDisk> step =
          plugged.stream().filter(one -> one.file().toString().equals(file)).findFirst();
      if (same.isPresent()) {
        left.remove(same.get());
      } else if (step.isEmpty()) {
        attach(wanted, Path.of(file));
      } else if (sameDisk(Xml.parse(step.get().xml()).getDocumentElement(), wanted)) {
        steps.add(step.get());
      } else {
        obstacles.add("its disk '" + step.get().disk() + "' changes");
      }
    }
    for (Element disk : left) {
      // Its file may be deleted before a guest that runs would have released it.
      obstacles.add(
          "it was made with the disk '" + DefinedDevices.name(DefinedDevices.file(disk)) + "'");
    }
  }

  private void attach(Element disk, Path file) {
    String target = target(disk);
    for (char letter = 'a'; targets.contains(target) && letter <= 'z'; letter++) {
      target = "vd" + letter;
    }
    if (!targets.add(target)) {
      obstacles.add("it has 26 disks");
      return;
    }
    setTarget(disk, target);
    more++;
    steps.add(
        new AttachDisk(
            made.uri(),
            made.guest(),
            made.uuid(),
            DefinedDevices.name(file.toString()),
            file,
            Xml.print(disk)));
  }

  private static String target(Element disk) {
    return Xml.find(disk, "target").map(target -> target.getAttribute("dev")).orElse("");
  }

  private static void setTarget(Element disk, String target) {
    Xml.find(disk, "target").ifPresent(element -> element.setAttribute("dev", target));
  }

  /** Whether two disks differ at most in their names in the guest. */
  private static boolean sameDisk(Element one, Element other) {
    return withoutTarget(one).equals(withoutTarget(other));
  }

  private static String withoutTarget(Element disk) {
    Element copy = (Element) disk.cloneNode(true);
    setTarget(copy, "");
    return Xml.print(copy);
  }

  /** libvirt itself adds the ports that a guest needs at its start. */
  private void slots() {
    Optional<GuestFacts> found = seen(input, made).filter(GuestFacts::running);
    int free = found.flatMap(GuestFacts::definition).map(DefinitionFacts::freeSlots).orElse(more);
    if (free < more) {
      obstacles.add(
          "it has "
              + (free == 0 ? "no free PCIe port" : free + " free PCIe ports")
              + " for "
              + more
              + (more == 1 ? " new device" : " new devices"));
    }
  }
}
