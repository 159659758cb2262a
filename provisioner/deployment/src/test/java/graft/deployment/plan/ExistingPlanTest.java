package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.guests.machine.MachineReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Plans for machines that exist already. */
class ExistingPlanTest {
  private static final String NOT_THERE = "no socket";

  private final FakeHost host =
      new FakeHost().program("ssh").machine("box", report(Optional.empty(), 1 << 20), "192.0.2.1");

  private static MachineReport report(Optional<String> owner, long free) {
    return new MachineReport(
        "Linux",
        "x86_64",
        "box",
        "glibc",
        List.of(),
        List.of(),
        List.of(),
        Map.of("/usr/lib", free),
        owner,
        Optional.empty());
  }

  private static String lab(String existing, String more) {
    return """
        graft: 1
        name: lab
        gpus: [{name: gpu0, device: software, server: {port: 9000}}]
        guests:
          - {name: box, existing: {%s}, vgpu: gpu0}
        %s"""
        .formatted(existing, more);
  }

  private static final String LAB = lab("ssh: root@192.0.2.7", "");

  private static final String NODE =
      """
      graft: 1
      name: lab
      nodes: [{name: n, server: "tcp://192.0.2.9:7799", token-file: t}]
      gpus: [{name: g, owner: "node:n"}]
      guests: [{name: box, existing: {ssh: root@192.0.2.7}, vgpu: g}]
      """;

  private List<String> problems(String descriptor) {
    return PlanReading.problems(host, descriptor);
  }

  @Test
  void noLibvirtIsNeeded() throws Exception {
    host.unreachable(NOT_THERE);
    Plan plan = host.plan(LAB);
    assertThat(PlanReading.words(plan))
        .containsExactly("DO token", "DO access-gpu0", "DO install-192.0.2.7-22", "DO verify");
    assertThat(plan.toText()).contains("start its server at tcp://192.0.2.1:9000");
    assertThat(PlanReading.configuration(plan)).contains("server = tcp://192.0.2.1:9000\n");
    assertThat(PlanReading.configuration(plan)).doesNotContain("encryption");
    assertThat(problems(lab("ssh: root@192.0.2.7", "  - {name: b, kernel: {image: k}}\n")))
        .anyMatch(problem -> problem.contains("libvirt does not answer"));
  }

  @Test
  void aPlanThatWasCarriedOutLeavesNothingToDo() throws Exception {
    host.carryOut(host.plan(LAB)).machine("box", report(Optional.of("us"), 1), "192.0.2.1");
    assertThat(host.plan(LAB).actions()).isEmpty();
    host.machine("box", report(Optional.empty(), 1 << 20), "192.0.2.1");
    assertThat(PlanReading.words(host.plan(LAB))).containsExactly("DO install-192.0.2.7-22");
  }

  @Test
  void behindANatTheMachineHasAnotherAddressForThisHost() throws Exception {
    host.machine("box", report(Optional.empty(), 1 << 20), "127.0.0.1");
    Plan plan = host.plan(lab("ssh: root@127.0.0.1, port: 2222, server: 10.0.2.2", ""));
    assertThat(plan.toText()).contains("start its server at tcp://127.0.0.1:9000");
    assertThat(PlanReading.configuration(plan)).contains("server = tcp://10.0.2.2:9000\n");
  }

  @Test
  void anAddressOfIpVersionSixIsInBrackets() throws Exception {
    host.machine("box", report(Optional.empty(), 1 << 20), "2001:db8:0:0:0:0:0:1");
    assertThat(PlanReading.configuration(host.plan(lab("ssh: root@2001:db8::7", ""))))
        .contains("server = tcp://[2001:db8:0:0:0:0:0:1]:9000\n");
  }

  @Test
  void anotherAddressIsAnotherMachine() throws Exception {
    host.carryOut(host.plan(LAB)).machine("box", report(Optional.of("us"), 1), "192.0.2.1");
    assertThat(PlanReading.words(host.plan(lab("ssh: admin@192.0.2.7", ""))))
        .as("another user of the same machine")
        .containsExactly("DO install-192.0.2.7-22", "DO verify");
    host.machine("box", report(Optional.empty(), 1 << 20), "192.0.2.1");
    assertThat(PlanReading.words(host.plan(lab("ssh: root@192.0.2.8", ""))))
        .contains("UNDO install-192.0.2.7-22", "DO install-192.0.2.8-22");
  }

  @Test
  void aGpuOfANodeNeedsNoServerHere() throws Exception {
    host.file("/d/t");
    Plan plan = host.plan(NODE);
    assertThat(PlanReading.words(plan)).containsExactly("DO install-192.0.2.7-22", "DO verify");
    assertThat(PlanReading.configuration(plan)).contains("server = tcp://192.0.2.9:7799\n");
  }

  @Test
  void onlyTheNetworkConnectsTheMachine() {
    assertThat(problems(LAB.replace("vgpu: gpu0", "vgpu: {gpu: gpu0, channel: ivshmem}")))
        .singleElement()
        .asString()
        .contains("only its network connects a machine that exists already");
  }

  @Test
  void aServerNeedsAnAddressThatTheMachineReaches() throws Exception {
    host.machine("box", report(Optional.empty(), 1 << 20), "").file("/d/t");
    assertThat(problems(LAB.replace("192.0.2.7", "alias")))
        .singleElement()
        .asString()
        .contains("this host cannot resolve alias")
        .contains("write the machine's address in numbers");
    assertThat(PlanReading.configuration(host.plan(NODE)))
        .contains("server = tcp://192.0.2.9:7799\n");
  }

  @Test
  void aFullDiskAndTheClientOfOthersAreSaid() {
    host.machine("box", report(Optional.of("them"), 0), "192.0.2.1");
    assertThat(problems(LAB))
        .anyMatch(problem -> problem.contains("free at /usr/lib, and the installation needs"))
        .anyMatch(problem -> problem.contains("the client of another deployment: guest them"));
  }
}
