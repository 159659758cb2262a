package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.bind.RecordWriter;
import graft.common.json.Json;
import graft.common.values.Name;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each host of a descriptor gets. */
class HostSplitTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      hosts:
      - {name: kvm, ssh: root@192.0.2.1}
      - {name: gpus, ssh: root@gpu.example, address: 10.0.0.2}
      - {name: idle, ssh: root@192.0.2.3}
      nodes: [{name: far, server: 'tcp://192.0.2.9:7799', token-file: far.token}]
      gpus:
      - {name: near, host: kvm}
      - {name: big, host: gpus, device: gpu, server: {limits: {sessions: 4}, watchdog: 30s}}
      - {name: away, owner: 'node:far'}
      networks: [{name: net, host: kvm, address: 192.168.150.1/24}]
      fabric: {adapters: [{name: ib, host: kvm, device: mlx5_0, vfs: 2}], persistent: false}
      guests:
      - name: alice
        host: kvm
        image: /images/a.qcow2
        networks: [net]
        vfs: [{adapter: ib}]
        vgpu: [{gpu: big, memory: 1GiB, sessions: 2, compute: 40}, near, away]
      - {name: bob, host: kvm, image: /images/a.qcow2, networks: [net], vgpu: big}
      """;

  private static final HostSplit.TokenFiles FILES =
      new HostSplit.TokenFiles() {
        @Override
        public String of(Name guest, Name gpu) {
          return guest + "." + gpu + ".token";
        }

        @Override
        public String of(Node node) {
          return "node-" + node.name() + ".token";
        }
      };

  private static List<HostPart> split(String yaml) throws Exception {
    DescriptorFile read = DescriptorReader.read(Path.of("e.yaml"), yaml);
    return HostSplit.split(read.descriptor(), read.positions(), FILES);
  }

  private static Map<String, HostPart> byName(List<HostPart> parts) {
    return parts.stream().collect(Collectors.toMap(part -> part.name().text(), part -> part));
  }

  @Test
  void aHostWhoseGpusOthersUseComesFirst() throws Exception {
    assertThat(split(LAB))
        .extracting(part -> part.name().text())
        .containsExactly("gpus", "idle", "kvm");
    assertThat(byName(split(LAB)).get("kvm").after()).containsExactly(new Name("gpus"));
    assertThat(byName(split(LAB)).get("idle").isEmpty()).isTrue();
  }

  @Test
  void theGpusHostServesTheGuestsOfTheOther() throws Exception {
    Descriptor gpus = byName(split(LAB)).get("gpus").descriptor();
    assertThat(gpus.guests()).isEmpty();
    assertThat(gpus.nodes()).isEmpty();
    assertThat(gpus.usesLibvirt()).isFalse();
    assertThat(gpus.remoteGuests())
        .extracting(one -> one.name() + " " + one.address() + " " + one.tokenFile())
        .containsExactly("alice 10.0.0.2 alice.big.token", "bob 10.0.0.2 bob.big.token");
    assertThat(gpus.remoteGuests().get(0).vgpu().compute()).contains(40);
    assertThat(gpus.gpus().get(0).server().port()).isPresent();
  }

  @Test
  void theGuestsHostHasTheGpuAsThatOfANodeAtTheSameAddress() throws Exception {
    Map<String, HostPart> parts = byName(split(LAB));
    Descriptor kvm = parts.get("kvm").descriptor();
    int port = parts.get("gpus").descriptor().gpus().get(0).server().port().orElseThrow();
    assertThat(kvm.nodes())
        .extracting(node -> node.name() + " " + node.server())
        .containsExactly("big tcp://10.0.0.2:" + port, "far tcp://192.0.2.9:7799");
    assertThat(kvm.gpus())
        .extracting(gpu -> gpu.name() + " " + gpu.owner())
        .containsExactly("near host", "big node:big", "away node:far");
    var alice = kvm.guests().get(0).vgpus();
    assertThat(alice.get(0).tokenFile()).contains("alice.big.token");
    assertThat(alice.get(0).compute()).isEmpty();
    assertThat(alice.get(1).tokenFile()).isEmpty();
    assertThat(kvm.networks()).hasSize(1);
    assertThat(kvm.fabric().orElseThrow().persistent()).isFalse();
  }

  /** A port depends on the names alone: with another GPU, servers and guests stay as they are. */
  @Test
  void aFurtherGpuChangesNothingOfTheOthers() throws Exception {
    String more =
        LAB.replace("gpus:\n", "gpus:\n- {name: first, host: gpus}\n")
            + "- {name: carol, host: kvm, image: /i, networks: [net], vgpu: first}\n";
    assertThat(byName(split(more)).get("gpus").descriptor().gpus())
        .contains(byName(split(LAB)).get("gpus").descriptor().gpus().get(0));
  }

  /** What is sent to a host is read there as what was split. */
  @Test
  void aPartIsADescriptorOfASingleHost() throws Exception {
    for (HostPart part : split(LAB)) {
      String json =
          Json.pretty(RecordWriter.tree(part.descriptor()))
              .replaceAll(",\\s*\"host\" : \"(kvm|gpus)\"", "");
      Descriptor there = DescriptorReader.read(Path.of("e.yaml"), json).descriptor();
      assertThat(RecordWriter.tree(there).toString().replaceAll(", host=\\w+", ""))
          .isEqualTo(RecordWriter.tree(part.descriptor()).toString().replaceAll(", host=\\w+", ""));
    }
  }

  @Test
  void everyExampleIsWrittenAsItIsRead() throws Exception {
    int examples = 0;
    Path folder = Path.of("../../examples");
    try (Stream<Path> all = Files.list(folder)) {
      for (Path file : all.filter(path -> path.toString().endsWith(".yaml")).toList()) {
        String text = Files.readString(file);
        if (text.contains("\ncompare:")) {
          continue;
        }
        Descriptor read = DescriptorReader.read(file, text).descriptor();
        String written = Json.pretty(RecordWriter.tree(read));
        assertThat(DescriptorReader.read(file, written).descriptor())
            .as(file.toString())
            .isEqualTo(read);
        examples++;
      }
    }
    assertThat(examples).isGreaterThan(8);
  }

  @ParameterizedTest
  @CsvSource({
    "qemu+ssh://root@h/system, auto, AUTO, qemu:///system",
    "qemu+ssh://root@h/system, kvm, KVM, qemu:///system",
    "qemu+ssh://root@h/session, auto, AUTO, qemu:///session",
    "xen+ssh://root@h, auto, XEN, xen:///system",
    "root@h, auto, AUTO, auto",
  })
  void aUriChoosesTheHostsHypervisor(String ssh, String asked, String chosen, String libvirt)
      throws Exception {
    Descriptor part =
        split(
                "graft: 1\nname: lab\nhypervisor: "
                    + asked
                    + "\nhosts: [{name: h, ssh: "
                    + ssh
                    + "}]\nguests: [{name: a, memory: 1GiB, image: /a.qcow2}]\n")
            .get(0)
            .descriptor();
    assertThat(part.hypervisor().name()).isEqualTo(chosen);
    assertThat(part.libvirt().text()).isEqualTo(libvirt);
  }

  /** Containers are asked for by the URI alone, and checked by their rules. */
  @Test
  void aUriOfContainersMakesThem() throws Exception {
    String lab =
        "graft: 1\nname: lab\nlibvirt: lxc+ssh://root@h/system\nguests: [{name: a, memory: 1GiB, ";
    assertThat(split(lab + "root: /roots/a}]\n").get(0).descriptor().hypervisor())
        .isEqualTo(HypervisorChoice.LXC);
    assertThatThrownBy(() -> split(lab + "image: /a.qcow2}]\n"))
        .isInstanceOf(InvalidDescriptorException.class);
  }

  @Test
  void theOnlyHostGetsWhatNamesNone() throws Exception {
    String one =
        """
        graft: 1
        name: lab
        libvirt: qemu+ssh://root@h/system
        nodes: [{name: far, server: 'tcp://192.0.2.9:7799', token-file: far.token}]
        gpus: [{name: g}, {name: n, host: h}, {name: away, owner: 'node:far'}]
        networks: [{name: net, address: 192.168.150.1/24}]
        fabric: {adapters: [{name: ib, device: mlx5_0, vfs: 2}], persistent: false}
        guests:
        - name: a
          image: /images/a.qcow2
          networks: [net]
          vgpu: [{gpu: g, channel: vsock}, n, away]
        """;
    Descriptor part = split(one).get(0).descriptor();
    assertThat(part.gpus()).extracting(gpu -> gpu.name().text()).containsExactly("g", "n", "away");
    assertThat(part.networks()).hasSize(1);
    assertThat(part.fabric()).isPresent();
    assertThat(part.guests().get(0).vgpus()).hasSize(3);
    assertThat(part.remoteGuests()).isEmpty();
  }
}
