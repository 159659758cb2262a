package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.Xml;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class DevicesElementTest {

  @Test
  void disksAndCdromsAreCountedApart() {
    DomainSpec spec =
        DomainSpec.named("a")
            .disk(DiskSpec.cdrom("/seed.iso"))
            .disk(DiskSpec.file("/a", DiskSpec.Format.RAW))
            .disk(DiskSpec.file("/b", DiskSpec.Format.RAW))
            .build();
    Element devices = DevicesElement.append(Xml.newDocument("domain").getDocumentElement(), spec);
    assertThat(Xml.children(devices, "disk"))
        .extracting(disk -> Xml.find(disk, "target").orElseThrow().getAttribute("dev"))
        .containsExactly("sda", "vda", "vdb");
  }

  @Test
  void aGuestWhoseMemoryChangesHasABalloon() {
    DomainSpec spec =
        DomainSpec.named("a")
            .maxMemory(MemorySize.ofGib(1))
            .disk(DiskSpec.file("/a", DiskSpec.Format.RAW))
            .build();
    Element devices = DevicesElement.append(Xml.newDocument("domain").getDocumentElement(), spec);
    assertThat(Xml.find(devices, "memballoon").orElseThrow().getAttribute("model"))
        .isEqualTo("virtio");
  }

  @Test
  void everyGuestHasRandomnessAndNoBalloon() {
    DomainSpec spec = DomainSpec.named("a").disk(DiskSpec.file("/a", DiskSpec.Format.RAW)).build();
    Element devices = DevicesElement.append(Xml.newDocument("domain").getDocumentElement(), spec);
    assertThat(Xml.find(devices, "memballoon").orElseThrow().getAttribute("model"))
        .isEqualTo("none");
    assertThat(Xml.text(devices, "rng", "backend")).contains("/dev/urandom");
  }
}
