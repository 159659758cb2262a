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
        "disks: [{name: d, size: 1GiB}]",
        "networks: [user]",
        "passthrough: [{pci: \"3b:00.0\"}]",
        "firmware: uefi",
        "hide-hypervisor: true"
      })
  void whatGraftMayNotChangeIsRefusedAtItsPlace(String key) {
    String text = guest("existing: {ssh: a@h}, vgpu: g, " + key);
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
