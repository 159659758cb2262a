package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.bind.Problems;
import graft.common.values.UserName;
import graft.deployment.fabric.DomainFit;
import graft.deployment.observe.DomainFacts;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import graft.guests.machine.MachineReport;
import graft.hypervisors.libvirt.existing.ExistingDomain.Card;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Plans for libvirt domains that somebody else made. */
class ExistingDomainPlanTest {
  private static final UUID WEB = UUID.fromString("11111111-2222-3333-4444-555555555555");
  private static final String INSTALL = "install-" + WEB;
  private static final String REGION = "graft.lab.box";
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software, server: {port: 9000}}]
      guests:
        - {name: box, existing: {domain: web}, vgpu: gpu0}
      """;

  private final FakeHost host = new FakeHost().vsock();

  private static MachineReport report(String owner) {
    return new MachineReport(
        "Linux",
        "x86_64",
        "box",
        "glibc",
        List.of(),
        List.of(),
        List.of(),
        Map.of("/usr/lib", 1L << 20),
        Optional.of(owner).filter(text -> !text.isEmpty()),
        Optional.empty());
  }

  /** A domain whose agent answers, on a network, with one free slot. */
  private static Domain web() {
    return new Domain();
  }

  /** The domain's facts, with what a test changes. */
  private static final class Domain {
    private UUID uuid = WEB;
    private boolean running = true;
    private String maker = "";
    private boolean agent = true;
    private Optional<SshLogin> ssh = Optional.empty();
    private boolean vsock;
    private Optional<Long> cid = Optional.empty();
    private Card card = Card.NETWORK;
    private int slots = 1;
    private Set<String> attached = Set.of();

    DomainFacts facts() {
      return new DomainFacts(
          uuid,
          running,
          running ? "running" : "shut off",
          maker,
          agent,
          ssh,
          vsock,
          cid,
          card,
          slots,
          attached);
    }
  }

  private void see(Domain domain, String listen) {
    host.domain("box", domain.facts(), Optional.of(report("")), listen);
  }

  private List<String> problems(String descriptor) {
    return PlanReading.problems(host, descriptor);
  }

  @Test
  void aDomainGetsSharedMemoryAndTheClientAndNothingIsDefinedOrStarted() throws Exception {
    see(web(), "192.0.2.1");
    Plan plan = host.plan(LAB);
    assertThat(PlanReading.words(plan))
        .containsExactly(
            "DO find",
            "DO token",
            "DO access-gpu0",
            "DO region",
            "DO attach-" + REGION,
            "DO " + INSTALL,
            "DO verify");
    assertThat(PlanReading.configuration(plan))
        .contains("server = ivshmem://192.0.2.1:9000, tcp://192.0.2.1:9000\n");
    assertThat(plan.toText())
        .contains("install in the domain 'web' by its guest agent")
        .contains("domain web runs, and gets its devices at once")
        .contains("undo gives back what it had");
  }

  @Test
  void whatWasCarriedOutStaysWithoutAFreeSlot() throws Exception {
    see(web(), "192.0.2.1");
    host.carryOut(host.plan(LAB));
    Domain after = web();
    after.slots = 0;
    after.attached = Set.of(REGION);
    host.domain("box", after.facts(), Optional.of(report("us")), "192.0.2.1");
    assertThat(host.plan(LAB).actions()).isEmpty();
    after.slots = 1;
    after.attached = Set.of();
    host.domain("box", after.facts(), Optional.of(report("us")), "192.0.2.1");
    assertThat(PlanReading.words(host.plan(LAB)))
        .as("somebody detached it")
        .containsExactly("DO attach-" + REGION);
  }

  @Test
  void withoutAFreeSlotTheNetworkIsUsedAndTheReasonSaid() throws Exception {
    Domain domain = web();
    domain.slots = 0;
    see(domain, "192.0.2.1");
    Plan plan = host.plan(LAB);
    assertThat(PlanReading.words(plan)).doesNotContain("DO attach-" + REGION, "DO region");
    assertThat(PlanReading.configuration(plan)).contains("server = tcp://192.0.2.1:9000\n");
    assertThat(plan.toText()).contains("the domain has no free PCI slot for shared memory");
    assertThat(problems(LAB.replace("vgpu: gpu0", "vgpu: {gpu: gpu0, channel: ivshmem}")))
        .singleElement()
        .asString()
        .contains("no free PCI slot");
  }

  @Test
  void vsockIsUsedWithTheDomainsOwnAddress() throws Exception {
    Domain domain = web();
    domain.vsock = true;
    domain.cid = Optional.of(77L);
    domain.card = Card.NONE;
    see(domain, "");
    Plan plan = host.plan(LAB);
    assertThat(PlanReading.configuration(plan))
        .contains("server = ivshmem+vsock://2:9000, vsock://2:9000\n");
    assertThat(plan.toText()).contains("cid=77");
    domain.cid = Optional.empty();
    see(domain, "");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .contains("another vsock address at each start")
        .contains("no network card");
  }

  @Test
  void inTheUserModeNetworkThisHostHasAnotherAddress() throws Exception {
    Domain domain = web();
    domain.card = Card.USER;
    domain.slots = 0;
    see(domain, "127.0.0.1");
    assertThat(PlanReading.configuration(host.plan(LAB)))
        .contains("server = tcp://10.0.2.2:9000\n")
        .as("what it sends there arrives at the loopback interface of this host")
        .contains("encryption = never\n");
  }

  @Test
  void aDomainThatIsNotThereIsSaid() {
    host.noDomain("box").guest("wep", "");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .startsWith("/d/lab.yaml:5:")
        .contains("has no domain 'web'")
        .contains("wep");
  }

  @Test
  void aDomainOfAnotherDeploymentIsRefused() {
    Domain domain = web();
    domain.maker = "them\u001b[2J";
    see(domain, "192.0.2.1");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .contains("was made by Graft, in the deployment 'them\\u001b[2J'");
    domain.maker = "";
    host.domain("box", domain.facts(), Optional.of(report("guest x of them")), "192.0.2.1");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .contains("'domain web' has the client of another deployment: guest guest x of them");
  }

  @Test
  void aDomainThatIsOffIsSaidWithWhatIsNeeded() {
    Domain domain = web();
    domain.running = false;
    host.domain("box", domain.facts(), Optional.empty(), "");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .contains("the domain 'web' is shut off, and its client is brought while it runs")
        .contains("Graft starts no domain that it did not make");
  }

  @Test
  void aDomainWithoutAgentAndAddressIsSaid() {
    Domain domain = web();
    domain.agent = false;
    host.domain("box", domain.facts(), Optional.empty(), "192.0.2.1");
    assertThat(problems(LAB))
        .singleElement()
        .asString()
        .contains("has no channel to a guest agent")
        .contains("setup: {ssh: {address: ADDRESS}}");
  }

  @Test
  void aDomainIsReachedBySshWhereItHasNoAgent() throws Exception {
    Domain domain = web();
    domain.agent = false;
    domain.ssh =
        Optional.of(
            new SshLogin(
                UserName.ROOT,
                Optional.of(HostAddress.parse("192.0.2.7")),
                22,
                Optional.empty(),
                Path.of("/h")));
    see(domain, "192.0.2.1");
    String lab = LAB.replace("vgpu: gpu0", "vgpu: gpu0, setup: {ssh: {address: 192.0.2.7}}");
    assertThat(problems(lab)).singleElement().asString().contains("there is no ssh on this host");
    host.program("ssh");
    assertThat(host.plan(lab).toText()).contains("install in the domain 'web' by SSH");
    host.carryOut(host.plan(lab));
    Domain again = web();
    again.attached = Set.of(REGION);
    host.domain("box", again.facts(), Optional.of(report("us")), "192.0.2.1");
    assertThat(PlanReading.words(host.plan(lab)))
        .as("its agent answers now: nothing is detached")
        .containsExactly("DO " + INSTALL, "DO verify");
  }

  @Test
  void aDomainThatWasMadeAgainIsAnotherOne() throws Exception {
    see(web(), "192.0.2.1");
    host.carryOut(host.plan(LAB));
    Domain again = web();
    again.uuid = UUID.randomUUID();
    see(again, "192.0.2.1");
    assertThat(PlanReading.words(host.plan(LAB)))
        .contains("UNDO " + INSTALL, "UNDO attach-" + REGION, "DO install-" + again.uuid);
  }

  @Test
  void devicesNeedSlotsThatTheyDoNotHaveYet() throws Exception {
    Domain domain = web();
    domain.attached = Set.of("0000:65:00.0");
    see(domain, "192.0.2.1");
    PlanInput input = host.input(LAB);
    Problems problems = new Problems();
    DomainFit fit =
        new DomainFit(
            input.descriptor().guests().get(0),
            input.snapshot(),
            input.file().positions().of(input.descriptor()),
            problems);
    fit.checkSlots(List.of("0000:65:00.0", "0000:66:00.0"));
    assertThat(problems.isEmpty()).as("one of them is there, the other has the free slot").isTrue();
    fit.checkSlots(List.of("0000:65:00.0", "0000:66:00.0", "0000:67:00.0"));
    assertThat(problems.sorted())
        .singleElement()
        .asString()
        .contains("has 1 free PCI slots that take a device while it runs, and gets 2 devices");
  }

  @Test
  void libvirtOfAnotherHypervisorIsRefused() {
    see(web(), "192.0.2.1");
    host.xen("hvm");
    assertThat(problems(LAB))
        .anyMatch(problem -> problem.contains("domains of KVM and QEMU alone"));
  }
}
