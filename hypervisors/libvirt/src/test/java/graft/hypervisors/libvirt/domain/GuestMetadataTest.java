package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.junit.jupiter.api.Test;

class GuestMetadataTest {

  private static final GuestMetadata METADATA =
      GuestMetadata.of("demo", Map.of("spec", "sha256:12", "awkward", "<&>' \""));

  @Test
  void carriesItsNamespace() {
    assertThat(Xml.print(GuestMetadata.of("demo").toElement(Xml.newDocument("unused"))))
        .isEqualTo("<graft:guest deployment='demo' xmlns:graft='urn:graft:guest:1'/>\n");
  }

  @Test
  void readsBackAsItWas() {
    String xml = Xml.print(METADATA.toElement(Xml.newDocument("unused")));
    assertThat(GuestMetadata.fromElement(Xml.parse(xml).getDocumentElement())).isEqualTo(METADATA);
  }

  @Test
  void readsTheFormWithoutPrefixThatLibvirtReturns() {
    String xml = "<guest deployment='demo'><property name='spec'>sha256:12</property></guest>";
    assertThat(GuestMetadata.fromElement(Xml.parse(xml).getDocumentElement()))
        .isEqualTo(GuestMetadata.of("demo", Map.of("spec", "sha256:12")));
  }

  @Test
  void refusesOtherElements() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> GuestMetadata.fromElement(Xml.parse("<instance/>").getDocumentElement()));
  }
}
