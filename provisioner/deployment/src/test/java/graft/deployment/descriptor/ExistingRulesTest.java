package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.deployment.descriptor.guest.Existing;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a descriptor may say of a guest that exists already, and of hosts of VMware. */
class ExistingRulesTest {
  private static String guest(String keys) {
    return "graft: 1\ngpus: [{name: g, device: software}]\nguests:\n  - {name: a, " + keys + "}\n";
  }

  private static List<String> problems(String text) {
    InvalidDescriptorException e =
        catchThrowableOfType(
            InvalidDescriptorException.class,
            () -> DescriptorReader.read(Path.of("lab.yaml"), text));
    assertThat(e).as("problems of\n" + text).isNotNull();
    return e.problems().stream().map(Problem::toString).toList();
  }

  @Test
  void theLoginIsRead() throws Exception {
    Descriptor read =
        DescriptorReader.read(
                Path.of("lab.yaml"),
                guest(
                    "existing: {ssh: admin@fe80::1, port: 2222, key: k, known-hosts: h, server:"
                        + " 10.0.2.2}, vgpu: g, ready: {verify: false}"))
            .descriptor();
    Existing existing = read.guests().get(0).existing().orElseThrow();
    assertThat(existing.login(Path.of("/d")::resolve).toString())
        .isEqualTo(
            "SshLogin[user=admin, address=Optional[fe80::1], port=2222, key=Optional[/d/k],"
                + " knownHosts=/d/h]");
    assertThat(read.usesLibvirt()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-oProxyCommand=x@h",
        "a@-oProxyCommand=x",
        "@h",
        "a@",
        "a b@h",
        "a@h;id",
        "h",
        "a@$(id)",
        "a@h@-x",
        "1@h"
      })
  void aUserOrHostThatCouldBeAnOptionIsRefused(String target) {
    assertThat(problems(guest("existing: {ssh: \"" + target + "\"}, vgpu: g")))
        .anyMatch(problem -> problem.startsWith("lab.yaml:4:") && problem.contains("'ssh'"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "image: i",
        "root: r",
        "cpus: 1",
        "memory: 512MiB",
        "placement: {locked: true}",
        "disk-size: 1GiB",
        "disks: [{name: d, size: 1GiB}]",
        "networks: [user]",
        "passthrough: [{pci: \"3b:00.0\"}]",
        "firmware: uefi",
        "hide-hypervisor: true"
      })
  void whatGraftMayNotChangeIsRefusedAtItsPlace(String key) {
    assertRefusedAtItsPlace("existing: {ssh: a@h}, vgpu: g, ", key);
  }

  private static void assertRefusedAtItsPlace(String before, String key) {
    String text = guest(before + key);
    int column = text.lines().toList().get(3).indexOf(key) + key.indexOf(' ') + 2;
    assertThat(problems(text))
        .anyMatch(
            problem ->
                problem.startsWith("lab.yaml:4:" + column + ": Graft did not make the guest 'a'")
                    && problem.contains("'" + key.substring(0, key.indexOf(':')) + "'"));
  }

  @Test
  void whatGraftCouldNotTakeBackIsRefused() {
    assertThat(
            problems(
                guest(
                    "existing: {ssh: a@h}, vgpu: g, setup: {way: ssh, bundles: [infiniband], group:"
                        + " video}")))
        .anyMatch(problem -> problem.contains("make the group on the machine yourself"))
        .anyMatch(problem -> problem.contains("has no 'way'"))
        .anyMatch(problem -> problem.contains("Graft could not take packages back"));
    assertThat(problems(guest("existing: {ssh: a@h}, vgpu: g, ready: {when: off}")))
        .singleElement()
        .asString()
        .contains("is not started");
    assertThat(problems(guest("existing: {ssh: a@h}")))
        .singleElement()
        .asString()
        .contains("there is nothing to do");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "existing: {domain: web, ssh: a@h}, vgpu: g",
        "existing: {port: 22}, vgpu: g",
        "existing: {}, vgpu: g"
      })
  void aMachineIsReachedInExactlyOneWay(String keys) {
    assertThat(problems(guest(keys)))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:4:")
        .contains("exactly one of 'ssh' and 'domain'");
  }

  @Test
  void aDomainNeedsLibvirtAndMayHaveDevices() throws Exception {
    Descriptor read =
        DescriptorReader.read(
                Path.of("lab.yaml"),
                guest("existing: {domain: \"Debian 12 (web)\"}, passthrough: [{pci: \"3b:00.0\"}]"))
            .descriptor();
    assertThat(read.usesLibvirt()).isTrue();
    assertThat(read.usesDevices()).isTrue();
    assertThat(read.guests().get(0).existing().orElseThrow().machine())
        .isEqualTo("domain Debian 12 (web)");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "image: i",
        "cpus: 1",
        "memory: 512MiB",
        "placement: {locked: true}",
        "disks: [{name: d, size: 1GiB}]",
        "networks: [user]",
        "firmware: uefi",
        "hide-hypervisor: true"
      })
  void whatOnlyItsMakerMayChangeOfADomainIsRefusedAtItsPlace(String key) {
    assertRefusedAtItsPlace("existing: {domain: web}, vgpu: g, ", key);
  }

  @Test
  void aDomainsLoginIsThatOfItsSetUp() throws Exception {
    String login = "setup: {ssh: {user: admin, address: 192.0.2.7, port: 2222, key: k}}";
    Descriptor read =
        DescriptorReader.read(
                Path.of("lab.yaml"),
                guest("existing: {domain: web, known-hosts: h}, vgpu: g, " + login))
            .descriptor();
    Existing existing = read.guests().get(0).existing().orElseThrow();
    assertThat(
            existing
                .login(read.guests().get(0).setup().ssh().orElseThrow(), Path.of("/d")::resolve)
                .toString())
        .isEqualTo(
            "SshLogin[user=admin, address=Optional[192.0.2.7], port=2222, key=Optional[/d/k],"
                + " knownHosts=/d/h]");
    assertThat(problems(guest("existing: {domain: web, port: 23, key: k}, vgpu: g")))
        .anyMatch(problem -> problem.contains("'port' belongs to 'ssh'"))
        .anyMatch(problem -> problem.contains("'key' belongs to 'ssh'"));
    assertThat(problems(guest("existing: {domain: web}, vgpu: g, setup: seed")))
        .singleElement()
        .asString()
        .contains("by its agent or by SSH");
    assertThat(problems(guest("existing: {domain: web}, vgpu: g, setup: {way: ssh, ssh: {}}")))
        .singleElement()
        .asString()
        .contains("needs its address");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../x", "a/b", "", " a", "a\\u001b[2J", "a\\u202eb"})
  void aNameThatIsNoneOfADomainIsRefused(String name) {
    assertThat(problems(guest("existing: {domain: \"" + name + "\"}, vgpu: g")))
        .anyMatch(problem -> problem.startsWith("lab.yaml:4:") && problem.contains("'domain'"))
        .noneMatch(problem -> problem.contains("\u001b") || problem.contains("\u202e"));
  }

  @Test
  void aDomainIsOneGuest() {
    String two = "existing: {domain: w}, vgpu: g}\n  - {name: b, vgpu: g, existing: {domain: w";
    assertThat(problems(guest(two + "}")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:5:")
        .contains("the guest 'a' is the same machine");
  }

  @Test
  void aMachineIsOneGuest() {
    String two = "existing: {ssh: a@h}, vgpu: g}\n  - {name: b, vgpu: g, existing: {ssh: b@h";
    assertThat(problems(guest(two + "}")))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:5:")
        .contains("the guest 'a' is the same machine");
  }

  @Test
  void aMachineOwnsNoGpu() {
    assertThat(
            problems(
                """
                graft: 1
                gpus: [{name: g, device: software}, {name: f, device: software, owner: "guest:a"}]
                guests: [{name: a, existing: {ssh: a@h}, vgpu: g}]
                """))
        .anyMatch(
            problem ->
                problem.startsWith("lab.yaml:2:")
                    && problem.contains("a machine that exists already cannot own a GPU")
                    && problem.contains("run graft serve there"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"esx://root@esx-1/?no_verify=1", "vpx://u@vc/dc/h", "esx+ssh://h/"})
  void vmwareIsRefusedWithWhatCanBeDoneAndNothingElseIsSaid(String uri) {
    assertThat(
            problems(
                "graft: 1\nlibvirt: " + uri + "\nguests: [{name: a, vgpu: none}, {name: a}]\n"))
        .singleElement()
        .asString()
        .startsWith("lab.yaml:2:10: Graft makes no guests on VMware ESXi")
        .contains("existing: {ssh: USER@HOST}")
        .contains("DirectPath I/O");
  }
}
