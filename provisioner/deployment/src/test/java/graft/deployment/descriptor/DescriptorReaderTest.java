package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.descriptor.guest.Guest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a descriptor may say, and what is said about one that says something else. */
class DescriptorReaderTest {
  private static final String GUEST = "guests: [{name: a, image: a.qcow2}]\n";

  private static final String SSH =
      """
      graft: 1
      guests:
        - name: a
          image: a.qcow2
          setup: {way: ssh, ssh: {%s}}
      """;

  @Test
  void tenMistakesAreTenProblemsEachWithItsPlace() {
    assertThat(problemsOf(resource("ten-mistakes.yaml")))
        .extracting(Problem::toString)
        .containsExactly(
            "lab.yaml:3:1: unknown key 'hypervizor' in the file (did you mean 'hypervisor'?)",
            "lab.yaml:6:12: there is no guest named 'nobody' (known: alice)",
            "lab.yaml:7:13: 'device': '0000:3b:00.9' is not software, gpu, gpu:N, a PCI address or"
                + " a MIG instance (for example software)",
            "lab.yaml:14:19: there is no virtual function 5: the adapter has 2 (raise 'vfs')",
            "lab.yaml:14:33: 'node-guid': the GUID 01:00:00:00:00:00:00:01 is a multicast"
                + " identifier (lowest bit of the first octet) (for example"
                + " 0c:42:a1:03:00:16:9f:8e)",
            "lab.yaml:17:11: 'cpus': 'many' is not a whole number",
            "lab.yaml:18:13: 'memory': '1GB' is not a size in bytes, KiB, MiB, GiB or TiB; did"
                + " you mean '1GiB'?",
            "lab.yaml:20:11: there is no GPU named 'gpu1' (did you mean 'gpu0'?)",
            "lab.yaml:21:11: there are two guests named 'alice' (the first is at lab.yaml:16:11)",
            "lab.yaml:24:9: a disk has either 'size' or 'source'");
  }

  @Test
  void everyKeyIsRead() throws Exception {
    Descriptor read =
        DescriptorReader.read(Path.of("e.yaml"), resource("everything.yaml")).descriptor();

    assertThat(read.deploymentName()).isEqualTo(new Name("everything"));
    assertThat(read.gpus())
        .extracting(g -> g.owner().toString())
        .containsExactly("host", "host", "guest:owner", "node:big");
    assertThat(read.fabric().orElseThrow().adapters().get(0).virtualFunctions()).hasSize(2);
    Guest neighbour = read.guest(new Name("neighbour")).orElseThrow();
    assertThat(neighbour.memory()).isEqualTo(MemorySize.parse("16GiB"));
    assertThat(neighbour.vfs()).isEmpty();
    assertThat(neighbour.vgpus().get(0).compute()).contains(50);
    assertThat(read.guest(new Name("small")).orElseThrow().vgpus().get(0).gpu())
        .isEqualTo(new Name("soft"));
  }

  @Test
  void theFileNamesADeploymentThatHasNoName() throws Exception {
    DescriptorFile file = DescriptorReader.read(Path.of("dir/Demo.yaml"), "graft: 1\n" + GUEST);
    assertThat(file.descriptor().deploymentName()).isEqualTo(new Name("demo"));
  }

  @Test
  void filesCountFromTheDescriptorsFolder() throws Exception {
    DescriptorFile file =
        DescriptorReader.read(Path.of("/etc/graft/lab.yaml"), "graft: 1\n" + GUEST);
    assertThat(file.resolve("a.qcow2")).isEqualTo(Path.of("/etc/graft/a.qcow2"));
    assertThat(file.resolve("../a")).isEqualTo(Path.of("/etc/a"));
    assertThat(file.resolve("/a")).isEqualTo(Path.of("/a"));
  }

  @Test
  void brokenYamlIsOneProblemWhereItBreaks() {
    assertThat(problemsOf("graft: 1\nguests: [\n"))
        .singleElement()
        .satisfies(p -> assertThat(p.position().line()).isEqualTo(3))
        .satisfies(p -> assertThat(p.message()).startsWith("not valid YAML"));
  }

  @Test
  void anEmptyFileIsAProblem() {
    assertThat(problemsOf("")).extracting(Problem::message).containsExactly("the file is empty");
    assertThat(problemsOf("- a\n"))
        .extracting(Problem::message)
        .containsExactly("the file must be a mapping of keys to values");
  }

  @Test
  void aKeyWrittenTwiceIsAProblem() {
    assertThat(problemsOf("graft: 1\ngraft: 1\n"))
        .extracting(Problem::message)
        .containsExactly("'graft' is written twice in the file");
  }

  @Test
  void aVersionThatIsNotKnownIsRefused() {
    assertThat(problemsOf("graft: 2\n"))
        .extracting(Problem::message)
        .containsExactly("'graft' is 2, and can only be 1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"qemu+tls://node1/system", "xen://node1", "qemu+tcp://a:hunter2@b/system"})
  void aHypervisorOfAnotherMachineWithoutALoginIsRefused(String uri) {
    assertThat(problemsOf("graft: 1\nlibvirt: " + uri + "\n" + GUEST))
        .extracting(Problem::toString)
        .singleElement()
        .asString()
        .startsWith("lab.yaml:2:10: ")
        .doesNotContain("hunter2");
  }

  @Test
  void aHypervisorThatSshReachesIsTheOneHost() throws Exception {
    Descriptor read =
        DescriptorReader.read(
                Path.of("lab.yaml"),
                "graft: 1\nlibvirt: xen+ssh://root@node1.example/system\n"
                    + "guests: [{name: a, memory: 1GiB, image: /images/a.qcow2}]\n")
            .descriptor();
    assertThat(read.libvirt().isAuto()).isTrue();
    assertThat(read.hosts())
        .singleElement()
        .satisfies(
            host -> {
              assertThat(host.name().text()).isEqualTo("node1");
              assertThat(host.ssh().libvirt()).map(Object::toString).contains("xen:///system");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"xen:///system", "qemu+unix:///session?socket=/run/here", "auto"})
  void aHypervisorOfThisMachineIsTaken(String uri) throws Exception {
    DescriptorFile file =
        DescriptorReader.read(Path.of("lab.yaml"), "graft: 1\nlibvirt: " + uri + "\n" + GUEST);
    assertThat(file.descriptor().libvirt()).isEqualTo(new LibvirtUri(uri));
  }

  @Test
  void aDeviceIsClaimedOnce() {
    assertThat(
            problemsOf(
                """
                graft: 1
                guests:
                  - {name: a, image: i, passthrough: [{pci: "3b:00.0"}]}
                  - {name: b, image: i, passthrough: [{pci: "0000:3b:00.0"}]}
                """))
        .extracting(Problem::toString)
        .containsExactly("lab.yaml:4:45: 0000:3b:00.0 is claimed already (see lab.yaml:3:45)");
  }

  @Test
  void aGuidIsGivenOnce() {
    assertThat(
            problemsOf(
                """
                graft: 1
                fabric:
                  adapters:
                    - name: ib0
                      device: mlx5_0
                      vfs: 2
                      virtual-functions:
                        - {index: 0, port-guid: 0c42a10300160001}
                        - {index: 1, port-guid: "0c:42:a1:03:00:16:00:01"}
                """))
        .extracting(Problem::message)
        .containsExactly("the GUID 0c:42:a1:03:00:16:00:01 is given twice");
  }

  @Test
  void aMacIsGivenOnce() {
    assertThat(
            problemsOf(
                """
                graft: 1
                fabric:
                  adapters:
                    - name: eth0
                      device: mlx5_0
                      vfs: 2
                      virtual-functions:
                        - {index: 0, mac: "02:00:00:00:00:0A"}
                        - {index: 1, mac: "02:00:00:00:00:0a"}
                """))
        .extracting(Problem::toString)
        .containsExactly(
            "lab.yaml:9:27: the MAC 02:00:00:00:00:0a is given twice (see lab.yaml:8:27)");
  }

  @Test
  void aServersPortsForRdmaAreGuidsMacsOrNames() throws Exception {
    String descriptor =
        "graft: 1\ngpus: [{name: a, server: {rdma-ports: [%s]}}]\n" + GUEST.replace("a:", "b:");
    Descriptor read =
        DescriptorReader.read(
                Path.of("lab.yaml"),
                descriptor.formatted(
                    "\"0C:42:a1:03:00:16:9f:8e\", 0c42:a103:0016:9f8f, \"02:00:00:00:00:0A\","
                        + " rocep1s0f0:1"))
            .descriptor();
    assertThat(read.gpus().get(0).server().rdmaPorts())
        .extracting(PortName::text)
        .containsExactly(
            "0x0c42a10300169f8e", "0x0c42a10300169f8f", "02:00:00:00:00:0a", "rocep1s0f0:1");
    for (String wrong : List.of("mlx5_0", "../../x:1", "\"mlx5_0:1,mlx5_1:1\"", "0x3", "a:b")) {
      assertThat(problemsOf(descriptor.formatted(wrong)))
          .as(wrong)
          .extracting(Problem::toString)
          .singleElement()
          .asString()
          .contains("lab.yaml:2:40: ", "is neither the GUID nor the MAC of a port");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-oProxyCommand=touch /tmp/x",
        "-v",
        "10.0.0.256",
        "10.0.0",
        "-guest.example.com",
        "guest-.example.com",
        "a b",
        "a;id",
        "$(id)",
        "{{ lookup('pipe', 'id') }}",
        "{% include 'x' %}",
        "root@10.0.0.5",
        "10.0.0.5:22",
        "fe80::1%eth0",
        "../x",
        "10.0.0.5\\n-oProxyCommand=x",
        "a\\0",
        ""
      })
  void anAddressForSshIsAnAddressOrAHostName(String address) {
    assertThat(problemsOf(SSH.formatted("address: \"" + address + "\"")))
        .extracting(Problem::toString)
        .singleElement()
        .asString()
        .startsWith("lab.yaml:5:38: 'address': '")
        .endsWith(
            "' is neither an IP address in numbers nor a host name (for example 192.168.150.10)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.0.5",
        "fe80::5054:ff:fe12:3456",
        "guest",
        "guest-1.lab.example.com",
        "Guest",
        "4a.example"
      })
  void suchAddressesForSshAreTaken(String address) throws Exception {
    Descriptor read =
        DescriptorReader.read(Path.of("lab.yaml"), SSH.formatted("address: \"" + address + "\""))
            .descriptor();
    assertThat(read.guests().get(0).setup().ssh().orElseThrow().address().orElseThrow().text())
        .isEqualTo(address);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-oProxyCommand=x",
        "-root",
        "a b",
        "a;id",
        "$(id)",
        "{{ x }}",
        "{% x %}",
        "",
        "1"
      })
  void aUserForSshHasAUsersName(String user) {
    assertThat(problemsOf(SSH.formatted("user: \"" + user + "\"")))
        .extracting(Problem::toString)
        .singleElement()
        .asString()
        .startsWith("lab.yaml:5:35: 'user': '" + user + "' is not a user's name: use letters")
        .endsWith("at most 32 (for example admin)");
  }

  @Test
  void whoLogsInBySshIsRootUnlessSomebodyElseIsNamed() throws Exception {
    for (String user : List.of("root", "admin", "Ada.L", "_graft", "debian-user")) {
      String ssh = user.equals("root") ? "port: 22" : "user: " + user;
      Descriptor read = DescriptorReader.read(Path.of("lab.yaml"), SSH.formatted(ssh)).descriptor();
      assertThat(read.guests().get(0).setup().ssh().orElseThrow().user().text()).isEqualTo(user);
    }
  }

  @Test
  void aServerOfAnotherMachineIsAtAnAddressThatIsNoOption() {
    for (String server : List.of("tcp://-oX:1", "tcp://a b:1", "unix:///a\\nname = bob")) {
      assertThat(
              problemsOf(
                  "graft: 1\nnodes: [{name: n, token-file: t, server: \""
                      + server
                      + "\"}]\n"
                      + GUEST))
          .extracting(Problem::message)
          .singleElement()
          .asString()
          .contains("is none of tcp://HOST:PORT");
    }
  }

  @Test
  void theTypeOfAMediatedDeviceIsNoPath() {
    String descriptor =
        """
        graft: 1
        guests:
          - name: a
            image: i
            passthrough:
              - {mdev: 6f3c1bd2-1f51-4d8e-8f0a-0d4f1f3f2f10, of: "3b:00.0", type: %s}
        """;
    assertThat(problemsOf(descriptor.formatted("../../../x")))
        .extracting(Problem::toString)
        .containsExactly(
            "lab.yaml:6:75: '../../../x' is not the name of a type of mediated device (such as"
                + " nvidia-474)");
  }

  @Test
  void aGuestBootsAnImageOrAKernel() {
    assertThat(
            problemsOf(
                """
                graft: 1
                guests:
                  - {name: a}
                  - {name: b, image: i, kernel: {image: k}}
                """))
        .extracting(Problem::message)
        .containsExactly(
            "the guest has nothing to boot", "a guest boots an image or a kernel, not both");
  }

  private static List<Problem> problemsOf(String text) {
    InvalidDescriptorException e =
        catchThrowableOfType(
            InvalidDescriptorException.class,
            () -> DescriptorReader.read(Path.of("lab.yaml"), text));
    assertThat(e).as("problems").isNotNull();
    return e.problems();
  }

  private static String resource(String name) {
    try (InputStream in = DescriptorReaderTest.class.getResourceAsStream("/descriptors/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
