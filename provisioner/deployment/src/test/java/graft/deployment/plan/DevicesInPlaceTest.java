package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.observe.DefinedDevices;
import graft.deployment.observe.DefinitionFacts;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachCard;
import graft.deployment.step.device.AttachDisk;
import graft.deployment.step.device.DetachCard;
import graft.deployment.step.guest.DefineGuest;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;

/** Guests that get and lose network cards, disks and CPUs while they run. */
class DevicesInPlaceTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      guests:
        - name: alice
          image: debian.qcow2
          networks: [user]
      """;

  private static final String DISK = "    disks: [{name: data, size: 1GiB}]\n";

  private final FakeHost host =
      new FakeHost().disk("/d/debian.qcow2", "10GiB").network("lan", true, "192.168.7.1");

  private static String on(String networks) {
    return LAB.replace("[user]", "[" + networks + "]");
  }

  private Plan after(String before, String descriptor) throws Exception {
    host.carryOut(host.plan(before));
    return host.plan(descriptor);
  }

  private List<String> actions(String before, String descriptor) throws Exception {
    return after(before, descriptor).actions().stream().map(Action::toString).toList();
  }

  private <T extends Step> T step(Class<T> type) {
    return host.steps("alice").stream()
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElseThrow();
  }

  /** What libvirt would have of the guest's definition once the steps are done. */
  private DefinitionFacts defined(String... devices) {
    String xml =
        step(DefineGuest.class)
            .xml()
            .replace("</devices>", String.join("", devices) + "</devices>");
    return facts(xml);
  }

  private static DefinitionFacts facts(String xml) {
    return DefinitionFacts.of(Xml.parse(xml).getDocumentElement(), Optional.empty());
  }

  @Test
  void aNewCardIsAttachedAndOneThatIsNoLongerWantedGoes() throws Exception {
    Plan plan = after(LAB, on("user, lan"));
    assertThat(plan.actions())
        .extracting(Action::toString)
        .containsExactly("+ attach a network card on lan");
    assertThat(plan.toText()).contains("guest alice: changes in place");
    assertThat(actions(on("user, lan"), LAB))
        .containsExactly("- undo: attach a network card on lan (no longer in the descriptor)");
    host.carryOut(host.plan(LAB));
    assertThat(host.plan(LAB).isEmpty()).isTrue();
  }

  @Test
  void aCardOfTheFirstDefinitionIsDetachedAndComesBack() throws Exception {
    String both = on("user, lan");
    assertThat(actions(both, LAB)).containsExactly("+ detach its network card on lan");
    assertThat(actions(LAB, both))
        .containsExactly("- undo: detach its network card on lan (no longer in the descriptor)");
    host.carryOut(host.plan(both));
    assertThat(host.plan(both).isEmpty()).isTrue();
    assertThat(actions(both, on("lan"))).containsExactly("+ detach its network card on user");
  }

  @Test
  void eachCardHasAnAddressOfItsOwn() throws Exception {
    String three = on("user, lan, lan");
    host.carryOut(host.plan(on("user, lan")));
    host.carryOut(host.plan(three));
    String first = step(DefineGuest.class).xml();
    AttachCard more = step(AttachCard.class);
    assertThat(first).doesNotContain(more.mac());
    assertThat(more.xml()).contains("<mac address='" + more.mac() + "'/>");
    assertThat(more.xml()).contains("<parameter name='MAC' value='" + more.mac() + "'/>");
    host.carryOut(host.plan(on("lan, lan"))); // without the first one, whose address is free again
    assertThat(actions(on("lan, lan"), on("lan, lan, user")))
        .as("the first card comes back")
        .containsExactly("- undo: detach its network card on user (no longer in the descriptor)");
  }

  @Test
  void anAddressIsPartOfACard() throws Exception {
    String chosen = on("user, {network: lan, mac: '52:54:00:00:00:01'}");
    assertThat(actions(on("user, lan"), chosen))
        .containsExactly("+ attach a network card on lan", "+ detach its network card on lan");
    assertThat(actions(chosen, on("user, lan")))
        .as("the first definition says all")
        .containsExactly(
            "- undo: detach its network card on lan (no longer in the descriptor)",
            "- undo: attach a network card on lan (no longer in the descriptor)");
  }

  @Test
  void aNewDiskIsMadeAndAttachedUnderAFreeName() throws Exception {
    Plan plan = after(LAB, LAB + DISK);
    assertThat(plan.actions())
        .extracting(Action::toString)
        .containsExactly("+ make its disk 'data' of 1GiB", "+ attach its disk 'data'");
    assertThat(plan.toText()).contains("guest alice: changes in place");
    host.carryOut(plan);
    assertThat(step(DefineGuest.class).xml()).doesNotContain("disk-data.qcow2");
    assertThat(step(AttachDisk.class).xml())
        .contains("disk-data.qcow2", "<serial>data</serial>", "<target bus='virtio' dev='vdc'/>");
    assertThat(host.plan(LAB + DISK).isEmpty()).isTrue();
    Plan larger = host.plan(LAB + DISK.replace("1GiB", "2GiB"));
    assertThat(larger.actions())
        .extracting(Action::toString)
        .containsExactly("+ make its disk 'data' larger: 2GiB");
  }

  @Test
  void aDiskIsDetachedBeforeItsFileIsDeleted() throws Exception {
    host.carryOut(host.plan(LAB));
    Plan plan = after(LAB + DISK, LAB);
    assertThat(plan.actions())
        .extracting(Action::toString)
        .containsExactly(
            "- undo: attach its disk 'data' (no longer in the descriptor)",
            "- undo: make its disk 'data' of 1GiB (no longer in the descriptor)");
    assertThat(plan.deletedData()).hasSize(1);
    assertThat(plan.toText()).contains("guest alice: changes in place; deletes its data: data");
  }

  @Test
  void whatCannotBeDoneInPlaceSaysWhy() throws Exception {
    assertThat(after(LAB + DISK, LAB).toText())
        .contains(
            "guest alice: restarts (it was made with the disk 'data'); deletes its data: data;"
                + " its other disks stay");
    host.carryOut(host.plan(LAB));
    host.redefined("alice", facts(twoPorts()));
    assertThat(host.plan(on("user, lan, lan")).toText()).contains("changes in place");
    assertThat(host.plan(on("user, lan, lan") + DISK).toText())
        .contains(
            "guest alice: restarts (it has 2 free PCIe ports for 3 new devices); its disks stay");
    host.off("alice");
    assertThat(host.plan(on("user, lan, lan") + DISK).actions())
        .as("libvirt adds ports at the start")
        .extracting(Action::toString)
        .contains("+ attach its disk 'data'")
        .noneMatch(action -> action.contains("define"));
  }

  /** The guest's definition, with two ports that are free. */
  private String twoPorts() {
    String xml = step(DefineGuest.class).xml();
    String port = "<controller type='pci' model='pcie-root-port' index='";
    return xml.replaceAll("<controller [^>]*type='pci'/>", "")
        .replace("</devices>", port + "1'/>" + port + "2'/></devices>");
  }

  @Test
  void withAnotherChangeTheGuestRestartsWithAllDevicesInItsDefinition() throws Exception {
    host.carryOut(host.plan(LAB));
    Plan plan = after(on("user, lan"), on("user, lan") + "    cpus: 2\n");
    assertThat(plan.toText()).contains("guest alice: restarts; its disks stay");
    host.carryOut(plan);
    assertThat(host.steps("alice")).noneMatch(AttachCard.class::isInstance);
    assertThat(step(DefineGuest.class).xml()).contains("<source network='lan'/>");
  }

  @Test
  void theCardOfAChannelRestartsTheGuest() throws Exception {
    String lab =
        """
        graft: 1
        name: lab
        gpus: [{name: gpu0, owner: host, device: software}]
        guests:
          - name: alice
            image: debian.qcow2
            vgpu: gpu0
            networks: [lan]
        """;
    assertThat(after(lab, lab.replace("[lan]", "[default]")).toText())
        .contains("guest alice: restarts");
    assertThat(host.plan(lab.replace("[lan]", "[lan, default]")).toText())
        .contains("guest alice: changes in place");
    assertThat(host.plan(lab.replace("[lan]", "[lan, closed]")).toText())
        .contains(
            "guest alice: restarts (libvirt cannot attach a card on a closed network while a guest"
                + " runs)");
  }

  @Test
  void aNetworkThatGoesWithItsCardRestartsTheGuest() throws Exception {
    String own = "networks: [{name: own, address: 10.7.7.1/24}]\n";
    String lab = LAB.replace("guests:", own + "guests:");
    assertThat(after(lab.replace("[user]", "[user, own]"), LAB).toText())
        .contains("guest alice: restarts (the network 'own' of its card is removed)");
  }

  @Test
  void whatGraftAttachedIsNoChangeFromOutside() throws Exception {
    String lab = on("user, lan") + DISK;
    host.carryOut(host.plan(LAB));
    host.carryOut(host.plan(lab));
    String card = step(AttachCard.class).xml();
    String disk = step(AttachDisk.class).xml();
    host.redefined("alice", defined(card, disk));
    assertThat(host.plan(lab).isEmpty()).isTrue();
    host.redefined("alice", defined(disk));
    assertThat(host.plan(lab).actions())
        .extracting(Action::toString)
        .containsExactly("+ attach a network card on lan (gone from its definition)");
    host.redefined("alice", defined(card));
    assertThat(host.plan(lab).actions())
        .extracting(Action::toString)
        .containsExactly("+ attach its disk 'data' (gone from its definition)");
    String foreign = "<interface type='network'><source network='other'/></interface>";
    host.redefined("alice", defined(card, disk, foreign));
    assertThat(host.plan(lab).toText()).contains("networks user → other and user");
  }

  @Test
  void whatGraftDetachedIsNoChangeFromOutside() throws Exception {
    host.carryOut(host.plan(on("user, lan")));
    host.carryOut(host.plan(LAB));
    String all = step(DefineGuest.class).xml();
    int begin = all.lastIndexOf("<interface");
    int end = all.indexOf("</interface>", begin) + "</interface>".length();
    host.redefined("alice", facts(all.substring(0, begin) + all.substring(end)));
    assertThat(host.plan(LAB).isEmpty()).isTrue();
    host.redefined("alice", facts(all));
    assertThat(host.plan(LAB).actions())
        .extracting(Action::toString)
        .containsExactly("+ detach its network card on lan (it is in its definition again)");
  }

  @Test
  void cpusChangeInPlaceUpToTheMaximum() throws Exception {
    String lab = LAB + "    cpus: 1\n    max-cpus: 4\n";
    assertThat(host.plan(lab).toText())
        .containsSubsequence(
            "define it in libvirt (at most 4 CPUs, 512MiB)", "give it 1 CPU", "start it");
    Plan plan = after(lab, lab.replace("cpus: 1", "cpus: 3"));
    assertThat(plan.actions())
        .extracting(Action::toString)
        .containsExactly("+ give it 3 CPUs (changed: 1 → 3, CPU → CPUs)");
    assertThat(plan.toText()).contains("guest alice: changes in place");
    host.carryOut(plan);
    String all = step(DefineGuest.class).xml();
    assertThat(all).contains("<vcpu>4</vcpu>");
    host.redefined("alice", facts(all.replace("<vcpu>", "<vcpu current='3'>")));
    assertThat(host.plan(lab.replace("cpus: 1", "cpus: 3")).isEmpty()).isTrue();
    host.redefined("alice", facts(all.replace("<vcpu>", "<vcpu current='2'>")));
    assertThat(host.plan(lab.replace("cpus: 1", "cpus: 3")).actions())
        .extracting(Action::toString)
        .containsExactly("+ give it 3 CPUs (it has 2)");
    assertThat(host.plan(lab.replace("max-cpus: 4", "max-cpus: 8")).toText())
        .contains("guest alice: restarts");
  }

  @ParameterizedTest
  @CsvSource({
    "'cpus: 4',the guest's maximum of 2 CPUs is less than its 4",
    "'placement: {pin: [0]}',a further CPU would have none"
  })
  void aMaximumThatCannotBeIsRefused(String key, String why) {
    assertThatThrownBy(() -> host.plan(LAB + "    max-cpus: 2\n    " + key + "\n"))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining(why);
  }

  /** A guest of Xen is defined anew for each of its devices. */
  @Test
  void otherHypervisorsRestartTheGuest() throws Exception {
    host.xen("pv hvm hvm_directio pv_directio hap");
    assertThat(after(on("lan"), on("lan, default")).toText()).contains("guest alice: restarts");
  }

  /** However often a guest changes, it has what its descriptor says, and each address once. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void afterManyChangesTheGuestHasWhatIsWanted(int seed) throws Exception {
    Random random = new Random(seed);
    for (int change = 0; change < 12; change++) {
      List<String> networks =
          random
              .ints(1 + random.nextInt(3), 0, 3)
              .mapToObj(List.of("user", "lan", "default")::get)
              .toList();
      List<String> disks =
          IntStream.range(0, 3).filter(i -> random.nextBoolean()).mapToObj(i -> "d" + i).toList();
      String lab =
          on(String.join(", ", networks))
              + disks.stream()
                  .map(name -> "{name: " + name + ", size: 1GiB}")
                  .collect(Collectors.joining(", ", "    disks: [", "]\n"));
      host.carryOut(host.plan(lab));
      assertThat(host.plan(lab).isEmpty()).as(lab).isTrue();
      List<Element> has = devices();
      assertThat(has.stream().filter(one -> one.getTagName().equals("interface")))
          .extracting(DefinitionFacts::network)
          .as(lab)
          .containsExactlyInAnyOrderElementsOf(networks);
      assertThat(has.stream().filter(one -> one.getTagName().equals("disk")))
          .extracting(one -> Xml.find(one, "serial").orElseThrow().getTextContent())
          .as(lab)
          .containsExactlyInAnyOrderElementsOf(disks);
      assertThat(has.stream().map(DevicesInPlaceTest::id)).as(lab).doesNotHaveDuplicates();
    }
  }

  /** A card's address, or a disk's name in the guest. */
  private static String id(Element device) {
    return Xml.find(device, "mac")
        .map(mac -> mac.getAttribute("address"))
        .orElseGet(() -> Xml.find(device, "target").orElseThrow().getAttribute("dev"));
  }

  /** The cards and the further disks of the guest, by its steps. */
  private List<Element> devices() {
    DefinedDevices defined = DefinedDevices.of(step(DefineGuest.class).xml());
    List<Element> devices = new ArrayList<>(defined.cards());
    devices.addAll(defined.disks());
    for (Step step : host.steps("alice")) {
      if (step instanceof DetachCard detach) {
        devices.removeIf(one -> id(one).equals(detach.mac()));
      } else if (step instanceof AttachCard attach) {
        devices.add(Xml.parse(attach.xml()).getDocumentElement());
      } else if (step instanceof AttachDisk attach) {
        devices.add(Xml.parse(attach.xml()).getDocumentElement());
      }
    }
    return devices;
  }
}
