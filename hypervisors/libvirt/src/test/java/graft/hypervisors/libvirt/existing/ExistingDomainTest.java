package graft.hypervisors.libvirt.existing;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.domain.Xml;
import graft.hypervisors.libvirt.existing.ExistingDomain.Card;
import graft.hypervisors.libvirt.existing.PciSlots.Slot;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;

/** What is read of domains that somebody else made, and may be nonsense. */
class ExistingDomainTest {
  private static final String ROOT = "<controller type='pci' index='0' model='pci-root'/>";
  private static final String PORTS =
      """
      <controller type='pci' index='0' model='pcie-root'/>
      <controller type='pci' index='1' model='pcie-root-port'>
        <address type='pci' domain='0x0000' bus='0x00' slot='0x02' function='0x0'/>
      </controller>
      <controller type='pci' index='2' model='pcie-root-port'/>
      <controller type='pci' index='3' model='pcie-root-port'><target hotplug='off'/></controller>
      <interface type='network'>
        <address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/>
      </interface>
      """;

  private static Element domain(String devices) {
    return Xml.parse("<domain><devices>" + devices + "</devices></domain>").getDocumentElement();
  }

  private static ExistingDomain running(String devices) {
    return new ExistingDomain(Optional.of(domain(devices)), Optional.of(domain(devices)));
  }

  private static String at(int slot) {
    return "<disk><address type='pci' domain='0x0000' bus='0x00' slot='"
        + String.format("0x%02x", slot)
        + "' function='0x0'/></disk>";
  }

  @Test
  void aPortOfPciExpressTakesOneDeviceUnlessItsHotplugIsOff() {
    assertThat(running(PORTS).freeSlots()).containsExactly(new Slot(2, 0));
  }

  @Test
  void theFirstSlotsOfAnI440FxAreKept() {
    assertThat(running(ROOT).freeSlots())
        .hasSize(29)
        .startsWith(new Slot(0, 3))
        .endsWith(new Slot(0, 31));
    assertThat(running(ROOT + at(3) + at(17)).freeSlots())
        .hasSize(27)
        .doesNotContain(new Slot(0, 3), new Slot(0, 17));
  }

  @Test
  void aSlotIsFreeIfItIsFreeNowAndAtTheNextStart() {
    ExistingDomain domain =
        new ExistingDomain(
            Optional.of(domain(ROOT + at(3))), Optional.of(domain(ROOT + at(4) + at(5))));
    assertThat(domain.freeSlots()).startsWith(new Slot(0, 6)).hasSize(26);
    assertThat(new ExistingDomain(Optional.empty(), Optional.of(domain(ROOT))).freeSlots())
        .hasSize(29);
    assertThat(new ExistingDomain(Optional.of(domain(ROOT)), Optional.empty()).freeSlots())
        .hasSize(29);
  }

  @Test
  void anAddressIsWrittenInFull() {
    Element device = Xml.newDocument("shmem").getDocumentElement();
    new Slot(10, 31).appendTo(device);
    assertThat(Xml.print(device))
        .contains("<address bus='0x0a' domain='0x0000' function='0x0' slot='0x1f' type='pci'/>");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<controller type='pci' index='-1' model='pcie-root-port'/>",
        "<controller type='pci' index='99999999999' model='pcie-root-port'/>",
        "<controller type='pci' index='0x' model='pcie-root-port'/>",
        "<controller type='pci' model='pcie-root-port'/>",
        "<controller type='usb' index='0' model='pci-root'/>",
        "<controller type='pci' index='0' model='pcie-root'/>"
      })
  void whatCannotBeReadTakesNoDevice(String devices) {
    assertThat(running(devices).freeSlots()).isEmpty();
  }

  @Test
  void anAddressThatCannotBeReadIsNoSlot() {
    assertThat(
            running(ROOT + "<disk><address type='pci' bus='x' slot='0x99999999'/></disk>")
                .freeSlots())
        .hasSize(29);
    assertThat(running(ROOT + "<disk><address type='pci' bus='0' slot='09'/></disk>").freeSlots())
        .as("no octal number")
        .doesNotContain(new Slot(0, 9));
  }

  @Test
  void theAgentHasAChannelOfThatName() {
    assertThat(
            running("<channel><target name='org.qemu.guest_agent.0'/></channel>").hasAgentChannel())
        .isTrue();
    assertThat(running("<channel><target name='com.redhat.spice.0'/></channel>").hasAgentChannel())
        .isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "auto='no' address='3', 3",
    "address='4294967294', 4294967294",
    "auto='yes' address='5',",
    "address='2',",
    "address='4294967295',",
    "address='99999999999',",
    "address='x',",
    "auto='no',"
  })
  void aVsockAddressCountsIfItStays(String attributes, Long expected) {
    ExistingDomain domain = running("<vsock><cid " + attributes + "/></vsock>");
    assertThat(domain.hasVsock()).isTrue();
    assertThat(domain.cid()).isEqualTo(Optional.ofNullable(expected));
  }

  @Test
  void theFirstCardCounts() {
    assertThat(running("").card()).isEqualTo(Card.NONE);
    assertThat(running("<interface type='user'/><interface type='network'/>").card())
        .isEqualTo(Card.USER);
    assertThat(running("<interface type='bridge'/>").card()).isEqualTo(Card.NETWORK);
  }

  @Test
  void aDeviceIsAttachedIfItIsThereNowAndAtTheNextStart() {
    String gpu =
        "<hostdev type='pci'><source><address domain='0x0000' bus='0x65' slot='0x00'"
            + " function='0x0'/></source></hostdev>";
    String memory = "<shmem name='graft.lab.web'><model type='ivshmem-plain'/></shmem>";
    assertThat(running(gpu + memory).attached())
        .containsExactlyInAnyOrder("0000:65:00.0", "graft.lab.web");
    assertThat(new ExistingDomain(Optional.of(domain(gpu)), Optional.of(domain(memory))).attached())
        .isEmpty();
  }
}
