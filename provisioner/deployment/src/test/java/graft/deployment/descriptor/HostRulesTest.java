package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.values.Name;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.HostFolder;
import graft.deployment.descriptor.hosts.HostSsh;
import graft.deployment.descriptor.hosts.OnFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a descriptor may say of its hosts. */
class HostRulesTest {
  private static final String TWO_HOSTS =
      """
      graft: 1
      name: lab
      hosts:
      - {name: one, ssh: root@192.0.2.1}
      - {name: two, ssh: root@192.0.2.2}
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpus: [{name: g}] | 6:8: the GPU 'g' names no host",
        "gpus: [{name: g, host: tow}] | 6:24: there is no host named 'tow'",
        "networks: [{name: n, address: 10.0.0.1/24}] | 6:12: the network 'n' names no host",
        "fabric: {adapters: [{name: a, device: mlx5_0, vfs: 1}]} | 6:21: the adapter 'a' names no",
        "guests: [{name: a, kernel: {image: /k}}] | 6:10: the guest 'a' names no host",
        "guests: [{name: a, host: one, kernel: {image: k}}] | 6:47: 'k' is a file of the guest's",
        "guests: [{name: a, host: one, image: d.qcow2}] | 6:38: 'd.qcow2' is a file of the",
        "hosts: [] | 6:1: 'hosts' is written twice",
        "gpus: [{name: g, host: one, device: gpu}, {name: h, host: one, device: gpu}]"
            + " | 6:72: the host 'one' has the device gpu",
        "gpus: [{name: g, owner: 'node:n', host: one}] | 6:41: the GPU 'g' is a node's",
        "remote-guests: [{name: a, address: 10.0.0.1, token-file: t, vgpu: g}]"
            + " | 6:16: guests of other hosts are found by their 'host'",
      })
  void whatHostsCannotHaveIsRefusedAtItsPlace(String line, String said) {
    assertThat(problems(TWO_HOSTS + line + "\n"))
        .anySatisfy(problem -> assertThat(problem).startsWith("e.yaml:" + said));
  }

  @Test
  void aMachineIsOneHost() {
    assertThat(
            problems(
                """
                graft: 1
                hosts:
                - {name: one, ssh: root@192.0.2.1}
                - {name: two, ssh: admin@192.0.2.1}
                - {name: one, ssh: root@192.0.2.3, port: 99999}
                """))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:4:20: the host 'one' is the same"))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:5:10: there are two hosts named 'one'"))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:5:42: 'port' is 99999"));
  }

  @Test
  void theSameMachineByAUriIsOneHost() {
    assertThat(
            problems(
                """
                graft: 1
                hosts:
                - {name: one, ssh: root@192.0.2.1, port: 2222}
                - {name: two, ssh: qemu+ssh://admin@192.0.2.1:2222/system}
                """))
        .singleElement()
        .asString()
        .startsWith("e.yaml:4:20: the host 'one' is the same");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "xen+ssh://root@h/system | hypervisor: kvm | 2:26: libvirt's driver 'xen' runs no guests of",
        "qemu+ssh://root@h/system | hypervisor: xen | 2:26: libvirt's driver 'qemu' runs no guests",
        "qemu+ssh://root@h/system | hypervisor: lxc | 2:26: libvirt's driver 'qemu' runs no guests",
        "lxc+ssh://root@h/system | hypervisor: qemu | 2:26: libvirt's driver 'lxc' runs no guests",
        "qemu+ssh://root@h/system | libvirt: qemu:///session | 2:26: the URI chooses qemu:///system",
        "qemu+ssh://root@h/system | libvirt: qemu+ssh://root@h/system"
            + " | 3:10: the descriptor has hosts, and 'libvirt' names",
        "qemu+ssh://admin@h/session | parallel: 2 | 2:26: Graft works on a host as root",
        "qemu+ssh://root:hunter2@h/system | parallel: 2 | 2:26: 'ssh': the URI has a password",
      })
  void whatContradictsAUriIsRefusedAtItsPlace(String uri, String line, String said) {
    assertThat(problems("graft: 1\nhosts: [{name: kvm, ssh: " + uri + "}]\n" + line + "\n"))
        .singleElement()
        .asString()
        .startsWith("e.yaml:" + said)
        .doesNotContain("hunter2");
  }

  @Test
  void whatAUriSaysIsSaidOnce() {
    assertThat(
            problems(
                """
                graft: 1
                hosts:
                - name: one
                  ssh: qemu+ssh://root@h:22/system?keyfile=/k&known_hosts=/h
                  port: 22
                  key: /k
                  known-hosts: /h
                """))
        .hasSize(3)
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:5:9: the URI of 'ssh' says this too"))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:6:8: the URI of 'ssh' says this too"))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:7:16: the URI of 'ssh' says this too"));
  }

  @Test
  void theOnlyHostHasADeviceOnce() {
    assertThat(
            problems(
                """
                graft: 1
                libvirt: qemu+ssh://root@h/system
                gpus: [{name: g, device: gpu}, {name: h, device: gpu}]
                """))
        .singleElement()
        .asString()
        .startsWith("e.yaml:3:50: the host 'h' has the device gpu:0 already");
  }

  @Test
  void hostsThatUseEachOthersGpusAreACircle() {
    assertThat(
            problems(
                TWO_HOSTS
                    + """
                    gpus: [{name: g1, host: one}, {name: g2, host: two}]
                    guests:
                    - {name: a, host: one, kernel: {image: /k, initramfs: /i}, vgpu: g2}
                    - {name: b, host: two, kernel: {image: /k, initramfs: /i}, vgpu: g1}
                    """))
        .singleElement()
        .asString()
        .startsWith(
            "e.yaml:8:66: hosts use each other's GPUs in a circle: one uses two uses one (each");
  }

  @Test
  void theGpuOfAGuestIsUsedOnItsOwnHostAlone() {
    assertThat(
            problems(
                TWO_HOSTS
                    + """
                    gpus: [{name: g1, host: one, owner: 'guest:a', device: '0000:65:00.0'}]
                    guests:
                    - {name: a, host: one, image: /i, passthrough: [{gpu: g1}]}
                    - {name: b, host: two, image: /i, vgpu: {gpu: g1, channel: vsock}}
                    """))
        .anySatisfy(p -> assertThat(p).contains("9:41: the GPU 'g1' of another host is owned by"))
        .anySatisfy(p -> assertThat(p).contains("9:60: a guest of another host reaches the GPU"));
  }

  /** Each host is checked by the rules of a single one: what two may have, one may not. */
  @Test
  void theRulesOfASingleHostHoldOnEach() {
    String gpus =
        """
        gpus:
        - {name: g1, host: one, device: '0000:65:00.0', server: {port: 8000}}
        - {name: g2, host: two, device: '0000:65:00.0', server: {port: 8000}}
        - {name: g3, host: two, server: {port: 8000}}
        """;
    assertThat(problems(TWO_HOSTS + gpus))
        .singleElement()
        .asString()
        .startsWith("e.yaml:9:40: two servers of one machine listen at port 8000");
  }

  @Test
  void aNodeServesOneGpuAndHasANameOfItsOwn() {
    assertThat(
            problems(
                TWO_HOSTS
                    + """
                    nodes: [{name: n, server: 'tcp://192.0.2.9:1', token-file: /t}]
                    gpus:
                    - {name: a, owner: 'node:n'}
                    - {name: b, owner: 'node:n'}
                    - {name: n, host: one}
                    """))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:9:20: the node 'n' has a GPU already"))
        .anySatisfy(p -> assertThat(p).startsWith("e.yaml:6:16: a GPU of a host has the name 'n'"));
  }

  @Test
  void withoutHostsNothingIsOnOne() {
    assertThat(problems("graft: 1\ngpus: [{name: g, host: one}]\n"))
        .singleElement()
        .asString()
        .startsWith("e.yaml:2:24: the descriptor has no hosts, and this names one");
  }

  @Test
  void foldersOfHostsMeanNothingToAShell() {
    for (String folder : List.of("/opt/$(id)", "/opt/..", "opt", "/opt/a b", "/opt/;x", "/-x")) {
      assertThat(problems("graft: 1\nhosts: [{name: o, ssh: root@h, folder: '" + folder + "'}]\n"))
          .as(folder)
          .singleElement()
          .asString()
          .contains("is not an absolute path");
    }
  }

  @Test
  void onFailureAndTheBoundAreRead() throws Exception {
    Descriptor read =
        DescriptorReader.read(Path.of("e.yaml"), TWO_HOSTS + "on-failure: leave\nparallel: 3\n")
            .descriptor();
    assertThat(read.onFailure()).isEqualTo(OnFailure.LEAVE);
    assertThat(read.parallel()).isEqualTo(3);
    assertThat(read.hosts()).extracting(host -> host.folder().text()).contains("/opt/graft-hosts");
  }

  @Test
  void hostsComeFromAnotherFileInstead(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("e.yaml");
    Files.writeString(file, "graft: 1\ngpus: [{name: g, host: one}]\n");
    Host one =
        new Host(
            new Name("one"),
            HostSsh.parse("root@192.0.2.1"),
            22,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            HostFolder.parse("/opt/x"));
    assertThat(DescriptorReader.read(file, names -> List.of(one)).descriptor().hosts())
        .containsExactly(one);
    assertThat(
            catchThrowableOfType(
                InvalidDescriptorException.class,
                () -> DescriptorReader.read(file, names -> List.of())))
        .hasMessageContaining("the descriptor has no hosts");
  }

  private static List<String> problems(String yaml) {
    return catchThrowableOfType(
            InvalidDescriptorException.class, () -> DescriptorReader.read(Path.of("e.yaml"), yaml))
        .problems()
        .stream()
        .map(Object::toString)
        .toList();
  }
}
