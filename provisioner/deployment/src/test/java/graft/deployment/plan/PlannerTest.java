package graft.deployment.plan;

import static graft.deployment.plan.PlanReading.problems;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.json.Json;
import graft.deployment.descriptor.Identities;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.InstallByAgent;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a descriptor comes to on a host, down to the words. Golden files in resources/plans. */
class PlannerTest {
  private static final String SMALL =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: 256MiB
          setup: {files: [{source: program, path: /usr/local/bin/program, mode: 0755}]}
          vgpu: {gpu: gpu0, memory: 1GiB}
      """;

  private static final String MORE_MEMORY =
      " (changed: memory=1073741824 → 2147483648, guest-memory=1073741824 → 2147483648)";

  private final FakeHost host =
      new FakeHost()
          .file("/d/vmlinuz")
          .file("/d/initramfs.cpio")
          .file("/d/program")
          .file("/d/debian.qcow2");

  @Test
  void aGuestThatBootsAKernel() throws Exception {
    assertThat(withoutWarnings(host.plan(SMALL))).isEqualTo(golden("kernel.txt"));
  }

  @Test
  void aGuestThatBootsACloudImageOnANetworkOfItsOwn() throws Exception {
    Plan plan =
        host.plan(
            """
            graft: 1
            name: lab
            gpus: [{name: gpu0, device: software, server: {port: 9000}}]
            networks: [{name: lab, address: 192.168.150.1/24}]
            guests:
              - name: alice
                image: debian.qcow2
                cpus: 2
                memory: 1GiB
                networks: [lab]
                disks: [{name: data, size: 10GiB}]
                vgpu: gpu0
            """);
    assertThat(withoutWarnings(plan)).isEqualTo(golden("image.txt"));
    assertThat(String.valueOf(plan.toTree()))
        .as("libvirt takes it again, if it comes to carry out what a killed process asked for")
        .contains("<uuid>" + Identities.networkUuid("lab", "lab") + "</uuid>");
  }

  @Test
  void aPlanThatWasCarriedOutLeavesNothingToDo() throws Exception {
    host.carryOut(host.plan(SMALL));
    assertThat(host.plan(SMALL).actions()).isEmpty();
    assertThat(host.plan(SMALL).toText()).endsWith("lab: nothing to do\n");
  }

  @Test
  void moreMemoryForAVGpuNeedsNoNewGuest() throws Exception {
    host.carryOut(host.plan(SMALL));
    assertThat(host.plan(SMALL.replace("memory: 1GiB", "memory: 2GiB")).actions())
        .extracting(Action::toString)
        .containsExactly(
            "+ grant it access to 'gpu0' (memory=2147483648 guest-memory=2147483648"
                + " region=/dev/shm/graft.lab.alice)"
                + MORE_MEMORY);
  }

  @Test
  void moreMemoryForAGuestDefinesItAnew() throws Exception {
    host.carryOut(host.plan(SMALL));
    assertThat(host.plan(SMALL.replace("256MiB", "512MiB")).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .containsExactly(
            "UNDO start", "UNDO define", "DO define", "DO start", "DO ready", "DO verify");
  }

  @Test
  void aNewProgramIsPutIntoTheGuest() throws Exception {
    host.carryOut(host.plan(SMALL)).touched("/d/program");
    assertThat(host.plan(SMALL).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .startsWith("UNDO start", "UNDO define", "UNDO initramfs", "DO initramfs");
  }

  @Test
  void aNewProgramLeavesTheDisksOfAGuestAlone() throws Exception {
    String image =
        SMALL.replace("kernel: {image: vmlinuz, initramfs: initramfs.cpio}", "image: debian.qcow2")
            + "    disks: [{name: data, size: 1GiB}, {name: more, size: 1GiB}]\n";
    host.carryOut(host.plan(image)).touched("/d/program");
    assertThat(host.plan(image).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .containsExactly(
            "UNDO start",
            "UNDO define",
            "UNDO seed",
            "DO seed",
            "DO define",
            "DO start",
            "DO ready",
            "DO install",
            "DO verify");
    assertThat(host.plan(image.replace("data, size: 1GiB", "data, size: 2GiB")).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .contains("DO grow-data")
        .doesNotContain("UNDO disk-data", "UNDO disk-more", "UNDO disk-root");
  }

  @Test
  void aGuestThatGetsAVGpuLaterKeepsItsFolderAndItsDisks() throws Exception {
    String vgpu = "    vgpu: {gpu: gpu0, memory: 1GiB}\n";
    String image =
        SMALL.replace("kernel: {image: vmlinuz, initramfs: initramfs.cpio}", "image: debian.qcow2");
    host.carryOut(host.plan(image.replace(vgpu, "")));
    assertThat(host.plan(image).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .contains("DO token", "UNDO define", "DO define")
        .doesNotContain("UNDO folder", "UNDO disk-root");
  }

  @Test
  void aHostWithoutRoomForSharedMemoryLeavesTheNetwork() throws Exception {
    Plan plan = host.sharedMemory(64 << 20).plan(SMALL);
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: /dev/shm has 64MiB free, and the"
                + " region takes 128MiB; /dev/vhost-vsock is not there or may not be used (modprobe"
                + " vhost_vsock)");
    assertThat(plan.toText())
        .contains("(1 CPU, 256MiB, channels tcp)")
        .doesNotContain("shares with the server");
  }

  @Test
  void guestsShareTheHostsRoomForSharedMemory() throws Exception {
    String two = SMALL + SMALL.substring(SMALL.indexOf("  - name: alice")).replace("alice", "bob");
    Plan plan = host.sharedMemory(200 << 20).plan(two);
    assertThat(plan.toText()).contains("graft.lab.alice").doesNotContain("graft.lab.bob");
    host.carryOut(plan);
    assertThat(host.plan(two).actions()).as("its own region is no obstacle later").isEmpty();
  }

  @Test
  void aChannelThatCannotBeIsRefusedWhereItIsWritten() {
    String insists = SMALL.replace("memory: 1GiB", "memory: 1GiB, channel: ivshmem");
    assertThatThrownBy(() -> host.sharedMemory(64 << 20).plan(insists))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the guest cannot use ivshmem: /dev/shm has 64MiB free");
  }

  @Test
  void rdmaNeedsUcxBesideTheServer() throws Exception {
    String wants =
        SMALL.replace("memory: 1GiB", "memory: 1GiB, channel: rdma, unencrypted: [rdma]");
    assertThatThrownBy(() -> host.plan(wants))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the guest cannot use rdma: this host has no UCX");
    assertThat(host.ucx().plan(wants).toText()).contains("channels rdma)");
    assertThat(host.plan(SMALL).toText())
        .as("auto takes it for guests with an adapter")
        .contains("channels ivshmem (128MiB), tcp)");
  }

  @Test
  void sharedMemoryNeedsNoNetworkWhereTheHostHasVsock(@TempDir Path folder) throws Exception {
    String only = SMALL.replace("memory: 1GiB", "memory: 1GiB, channel: ivshmem");
    assertThat(String.valueOf(host.vsock(folder).plan(only).toTree()))
        .contains("ivshmem+vsock://2:8692, ivshmem://10.0.2.2:8692")
        .contains("cid=");
  }

  @Test
  void aGuestThatWantsTheNetworkGetsNoSharedMemory() throws Exception {
    Plan plan = host.plan(SMALL.replace("memory: 1GiB", "memory: 1GiB, channel: tcp"));
    assertThat(plan.toText()).contains("channels tcp)").doesNotContain("/dev/shm");
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("network"));
  }

  @Test
  void aServerThatDiedIsStartedWhereItsGuestsLookForIt() throws Exception {
    host.carryOut(host.plan(SMALL)).serverDied();
    assertThat(host.plan(SMALL).actions())
        .extracting(Action::toString)
        .containsExactly(
            "+ start its server at tcp://127.0.0.1:8692 (device software) (gone from the host)");
  }

  @Test
  void aGuestThatIsOffIsStarted() throws Exception {
    host.carryOut(host.plan(SMALL)).off("alice");
    assertThat(host.plan(SMALL).actions())
        .extracting(a -> a.step().name())
        .containsExactly("start", "ready", "verify");
  }

  @Test
  void aGuestThatIsNoLongerThereGoesFirst() throws Exception {
    host.carryOut(host.plan(SMALL));
    assertThat(host.plan("graft: 1\nname: lab\n").actions())
        .extracting(a -> a.kind() + " " + a.step().id())
        .containsExactly(
            "UNDO guest/alice/start",
            "UNDO guest/alice/define",
            "UNDO guest/alice/initramfs",
            "UNDO guest/alice/kernel",
            "UNDO guest/alice/folder",
            "UNDO guest/alice/region",
            "UNDO guest/alice/access-gpu0",
            "UNDO guest/alice/token",
            "UNDO server/gpu0/server",
            "UNDO server/gpu0/closed-network");
  }

  @Test
  void aServerGetsAPortThatIsFree() throws Exception {
    assertThat(host.listening(8692).plan(SMALL).toText()).contains("tcp://127.0.0.1:8693");
  }

  @Test
  void aPlanForProgramsIsJson() throws Exception {
    assertThat(Json.readObject(Json.line(host.plan(SMALL).toTree())))
        .containsEntry("deployment", "lab")
        .containsEntry("uri", "qemu:///system");
  }

  @Test
  void everythingThatIsInTheWayIsSaidAtOnce() {
    assertThat(
            problems(
                host.guest("bob", "").listening(9000).memory(1L << 30),
                """
                graft: 1
                name: lab
                gpus:
                  - {name: gpu0, device: software, server: {port: 9000}}
                  - {name: gpu1, device: gpu}
                networks: [{name: default, address: 192.168.150.1/24}]
                guests:
                  - {name: alice, image: missing.qcow2, vgpu: gpu0, networks: [defalt]}
                  - {name: bob, image: debian.qcow2, memory: 2GiB}
                  - {name: carol, image: debian.qcow2, memory: 2GiB}
                """))
        .containsExactly(
            "/d/lab.yaml:4:51: another program listens at port 9000 (choose another, or leave"
                + " 'port' out)",
            "/d/lab.yaml:5:26: this host has no NVIDIA driver for 'gpu:0' (install it, or write"
                + " device: software)",
            "/d/lab.yaml:6:19: libvirt has a network 'default' that this descriptor did not make"
                + " (remove the entry to use that one, or choose another name)",
            "/d/lab.yaml:8:26: the image is missing: there is no file /d/missing.qcow2",
            "/d/lab.yaml:8:64: libvirt has no network named 'defalt' (did you mean 'default'?)",
            "/d/lab.yaml:9:12: libvirt has a guest 'bob' that Graft did not make (choose another"
                + " name)",
            "/d/lab.yaml:10:48: the guest 'carol' needs 2GiB of memory; the host has 1GiB free");
  }

  @Test
  void anUnreachableLibvirtIsOneProblem() {
    assertThat(problems(host.unreachable("no socket"), SMALL))
        .containsExactly(
            "/d/lab.yaml:1:1: libvirt does not answer: no socket (run graft doctor to find out"
                + " more)");
  }

  @Test
  void theSystemsLibvirtIsForRoot() {
    assertThat(problems(host.notRoot(), SMALL))
        .singleElement()
        .asString()
        .contains("only root can put guests' files where qemu:///system runs them");
  }

  @Test
  void aClientThatIsNotBuiltIsAProblem() {
    assertThat(problems(host.withoutClient(), SMALL))
        .containsExactly(
            "/d/lab.yaml:9:11: the bundle 'graft-client' does not fit: there is no file"
                + " /opt/graft/lib/client/libcuda.so.1 for /usr/lib/graft/libcuda.so.1 (run"
                + " ./graft build)");
  }

  @Test
  void anImageBehindAPrivateFolderIsAProblem() {
    assertThat(
            problems(
                host.privateFile("/root/debian.qcow2"),
                "graft: 1\nname: lab\nguests: [{name: a, image: /root/debian.qcow2}]\n"))
        .singleElement()
        .asString()
        .contains("cannot read /root/debian.qcow2: a folder above it is private");
  }

  @Test
  void whatIsNotBuiltYetIsRefusedAtItsPlace() throws Exception {
    assertThat(
            problems(
                host.distribution(),
                """
                graft: 1
                name: lab
                gpus:
                  - {name: given, device: "0000:3b:00.0"}
                guests:
                  - name: alice
                    image: debian.qcow2
                """))
        .containsExactly(
            "/d/lab.yaml:4:27: not supported yet on this host: serving a GPU by its PCI address"
                + " (write gpu or gpu:N)");
  }

  private static final String ON_A_NETWORK =
      SMALL.replace("memory: 256MiB", "memory: 256MiB\n    networks: [default]");

  private static final String XEN = "pv hvm hvm_directio pv_directio hap shadow";

  @Test
  void aGuestOfXenIsReachedBySshWithKeysOfItsOwn() throws Exception {
    assertThat(withoutWarnings(host.xen(XEN).plan(ON_A_NETWORK))).isEqualTo(golden("xen.txt"));
    host.carryOut(host.plan(ON_A_NETWORK));
    assertThat(host.plan(ON_A_NETWORK).actions()).isEmpty();
  }

  @Test
  void theSeedOfAnImageLetsTheKeysIn() throws Exception {
    Plan plan =
        host.xen(XEN)
            .plan(
                ON_A_NETWORK.replace(
                    "kernel: {image: vmlinuz, initramfs: initramfs.cpio}", "image: debian.qcow2"));
    assertThat(plan.actions())
        .extracting(action -> action.step().id())
        .containsSubsequence(
            "guest/alice/ssh-keys", "guest/alice/seed", "guest/alice/ready", "guest/alice/verify");
    assertThat(String.valueOf(plan.toTree()))
        .contains("/var/lib/graft/lab/guest-alice.ssh/key.pub");
  }

  @Test
  void whatXenCannotGiveIsSaidAtOnceAndWithTheReason() {
    assertThat(
            problems(
                host.xen(XEN),
                """
                graft: 1
                name: lab
                hypervisor: xen
                gpus: [{name: gpu0, device: software}]
                guests:
                  - name: bob
                    kernel: {image: vmlinuz}
                    networks: [default]
                    setup: none
                  - name: alice
                    kernel: {image: vmlinuz, initramfs: initramfs.cpio}
                    memory: 3GiB
                    placement: {locked: true}
                    vgpu: {gpu: gpu0, channel: ivshmem}
                """))
        .anyMatch(
            p ->
                p.contains(
                    "xen cannot give locked memory, user-mode network (write networks: [default]"))
        .anyMatch(p -> p.contains("only guests of QEMU on this host share memory with its server"))
        .anyMatch(p -> p.contains("needs 3GiB of memory; the host has 2GiB free"))
        .anyMatch(
            p ->
                p.contains(
                    "there is no connection to ask the guest whether it is ready: guests of xen"
                        + " have no agent"))
        .hasSize(4);
  }

  @Test
  void onlyXenHasItsKindsOfGuests() {
    assertThat(problems(host, ON_A_NETWORK + "    virtualization: pv\n"))
        .singleElement()
        .asString()
        .contains("kvm cannot give PV guests");
  }

  private static final String AWAY =
      """
      graft: 1
      name: lab
      gpus: [{name: away, owner: "node:big", device: gpu}]
      nodes: [{name: big, server: "tcp://10.0.0.5:8692", token-file: big.token}]
      guests:
        - name: alice
          image: debian.qcow2
          vgpu: away
      """;

  @Test
  void aGpuOfAnotherMachineIsReachedThereWithItsToken() throws Exception {
    Plan plan = host.vsock().file("/d/big.token").plan(AWAY);
    assertThat(plan.actions())
        .extracting(action -> action.step().id())
        .doesNotContain("server/away/server", "guest/alice/token", "guest/alice/access-away")
        .contains("guest/alice/seed", "guest/alice/verify");
    assertThat(String.valueOf(plan.toTree()))
        .contains("tcp://10.0.0.5:8692")
        .contains("/d/big.token")
        .doesNotContain("ivshmem:")
        .doesNotContain("vsock:");
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: its server is on another machine");
  }

  @Test
  void theTokenOfAnotherMachineHasToBeThere() {
    assertThat(problems(host, AWAY.replace("vgpu: away", "vgpu: {gpu: away, memory: 1GiB}")))
        .containsExactly(
            "/d/lab.yaml:4:64: there is no file /d/big.token that could be read (write a token of"
                + " the server's list there, mode 0600)",
            "/d/lab.yaml:8:31: the server of the node 'big' says how much memory a guest gets"
                + " (write memory=BYTES into its list of tokens, and remove the key here)");
  }

  @Test
  void aTokenFileThatNoClientCouldUseIsRefused() {
    host.tokenFile("/d/big.token", "other users may read it (rw-r--r--)");
    assertThat(problems(host, AWAY))
        .containsExactly(
            "/d/lab.yaml:4:64: /d/big.token cannot be used: other users may read it (rw-r--r--)"
                + " (write a token of the server's list there; chmod 600 /d/big.token)");
  }

  @Test
  void aNetworkWithoutDnsmasqIsRefusedBeforeLibvirtFails() {
    String network = "graft: 1\nname: lab\nnetworks: [{name: inside, address: 10.9.0.1/24}]\n";
    assertThat(problems(host.without("dnsmasq"), network))
        .containsExactly(
            "/d/lab.yaml:3:19: libvirt needs dnsmasq for a network, and this host has none"
                + " (apt-get install dnsmasq-base)");
  }

  private static final String CLOUD =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          image: debian.qcow2
          vgpu: gpu0
      """;

  @Test
  void theAgentBringsTheClientInOnceItAnswers() throws Exception {
    Plan plan = host.plan(CLOUD + "    setup: {way: agent}\n");
    assertThat(plan.actions())
        .extracting(a -> a.step().name())
        .endsWith("disk-root", "define", "start", "ready", "install", "verify");
    assertThat(plan.toText()).contains("+ install by the guest agent: 9 files, its token");
  }

  @Test
  void aLoginMeansSshAndThePlanSaysSo() throws Exception {
    host.program("ansible-playbook").program("ssh");
    String descriptor =
        CLOUD + "    networks: [default]\n    setup: {ssh: {user: debian, key: id}}\n";
    assertThat(host.plan(descriptor).toText())
        .contains("+ wait until SSH answers, at most 5m")
        .contains("+ install by SSH and Ansible: 9 files, its token");
  }

  @Test
  void aLoginIsOfNoUseWithoutAnsible() throws Exception {
    String descriptor = CLOUD + "    networks: [default]\n    setup: {ssh: {user: debian}}\n";
    assertThat(host.program("ssh").plan(descriptor).notes())
        .containsExactly(
            "the guest 'alice' is set up by its seed: a login is given, but ansible-playbook is not"
                + " on this host");
  }

  @Test
  void whereSshDoesNotAnswerAnyMoreTheAgentDoes() throws Exception {
    host.program("ansible-playbook").program("ssh");
    String descriptor =
        CLOUD
            + "    networks: [default]\n"
            + "    setup: {ssh: {user: debian}, files: [{source: program, path: /p}]}\n";
    host.file("/d/program").carryOut(host.plan(descriptor)).touched("/d/program");
    assertThat(host.answers("alice", true, true).plan(descriptor).notes())
        .containsExactly("the guest 'alice' is set up by SSH and Ansible: a login is given");
    Plan plan = host.answers("alice", true, false).plan(descriptor);
    assertThat(plan.notes())
        .containsExactly(
            "the guest 'alice' is set up by its agent: its agent answers, and nothing answers at"
                + " its SSH port");
    assertThat(plan.actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .containsExactly("DO ready", "DO install", "DO verify");
  }

  @Test
  void aGuestThatRunsGetsWhatIsNewByItsAgentAndOneThatIsOffByANewSeed() throws Exception {
    String descriptor = CLOUD + "    setup: {files: [{source: program, path: /p}]}\n";
    host.file("/d/program");
    Plan first = host.plan(descriptor);
    assertThat(first.notes())
        .containsExactly(
            "the guest 'alice' is set up by its seed: it boots an image; without cloud-init in the"
                + " image, by its agent");
    assertThat(first.toText()).contains("+ install by the guest agent, unless cloud-init did");
    host.carryOut(first).answers("alice", true, false);
    assertThat(host.plan(descriptor).isEmpty()).isTrue();

    host.touched("/d/program");
    Plan second = host.plan(descriptor);
    assertThat(second.actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .containsExactly("DO install", "DO verify");
    host.carryOut(second).answers("alice", false, false);
    assertThat(host.plan(descriptor).isEmpty())
        .as("the agent need not answer for what is there")
        .isTrue();

    // As it was before: the guest has taken that from its seed once, and has other files now.
    host.file("/d/program").answers("alice", true, false);
    assertThat(((InstallByAgent) host.plan(descriptor).actions().get(0).step()).seeded()).isEmpty();
    assertThat(host.answers("alice", false, false).plan(descriptor).toText())
        .contains("its agent does not answer now", "+ make its cloud-init seed");
  }

  @Test
  void aSeedThatAGuestHadBeforeIsNewToCloudInit() throws Exception {
    String descriptor = CLOUD + "    setup: {way: seed, files: [{source: program, path: /p}]}\n";
    host.file("/d/program");
    Plan first = host.plan(descriptor);
    host.carryOut(first).touched("/d/program");
    host.carryOut(host.plan(descriptor)).file("/d/program");
    assertThat(seed(host.plan(descriptor)).payload()).isEqualTo(seed(first).payload());
    assertThat(seed(host.plan(descriptor)).instance()).isNotEqualTo(seed(first).instance());
  }

  private static BuildSeed seed(Plan plan) {
    return plan.actions().stream()
        .filter(action -> action.kind() == Action.Kind.DO)
        .map(Action::step)
        .filter(BuildSeed.class::isInstance)
        .map(BuildSeed.class::cast)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void packagesDoNotGoIntoAnInitramfsButInByTheAgent() throws Exception {
    Plan plan = host.plan(SMALL.replace("setup: {", "setup: {bundles: [infiniband], "));
    assertThat(plan.notes())
        .contains(
            "the guest 'alice' is set up by its agent: an initramfs takes files, and neither"
                + " packages nor services");
    assertThat(plan.toText()).contains("+ install by the guest agent: ");
  }

  @Test
  void sshNeedsItsProgramsAndANetworkThatTheHostIsOn() {
    assertThat(problems(host, CLOUD + "    setup: {way: ssh, ssh: {user: debian}}\n"))
        .containsExactly(
            "/d/lab.yaml:7:11: the install method ssh is not possible for 'alice': ansible-playbook"
                + " is not on this host (apt-get install ansible openssh-client)",
            "/d/lab.yaml:7:11: the install method ssh is not possible for 'alice': ssh is not on"
                + " this host (apt-get install ansible openssh-client)",
            "/d/lab.yaml:7:11: the install method ssh is not possible for 'alice': it is on no"
                + " network of libvirt's, so that this host cannot connect to it (give it a libvirt"
                + " network, or write the address into ssh)");
  }

  @Test
  void aNewClientIsBroughtInWithoutANewGuest() throws Exception {
    String descriptor = CLOUD + "    setup: {way: agent, files: [{source: program, path: /p}]}\n";
    host.carryOut(host.plan(descriptor)).touched("/d/program");
    assertThat(host.plan(descriptor).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .containsExactly("DO install", "DO verify");
  }

  @Test
  void aGuestThatOwnsAGpuServesItsNeighbours() throws Exception {
    Plan plan = host.distribution().plan(OWNED);
    assertThat(plan.toText())
        .doesNotContain("GPU gpu0")
        .contains("make its cloud-init seed with 10 files, 2 services")
        .contains(
            "+ tell its server of 'gpu0' who may use it: alice memory=1073741824"
                + " guest-memory=1073741824")
        .contains("+ check its bundle 'graft-server'")
        .contains("+ run a CUDA program in it, once its server answers");
    host.carryOut(plan);
    assertThat(host.plan(OWNED.replace("1GiB", "2GiB")).actions())
        .extracting(Action::toString)
        .containsExactly(
            "+ tell its server of 'gpu0' who may use it: alice memory=2147483648"
                + " guest-memory=2147483648"
                + MORE_MEMORY,
            "+ grant it access to 'gpu0' (memory=2147483648 guest-memory=2147483648)"
                + MORE_MEMORY);
  }

  @Test
  void aGuestOfXenThatOwnsAGpuServesItsNeighboursOverTheirBridge() throws Exception {
    assertThat(host.xen(XEN).distribution().plan(OWNED).toText())
        .contains("lab on xen:///system")
        .contains("make its cloud-init seed with 10 files, 2 services")
        .contains("+ define it in libvirt (1 CPU, 512MiB, channels tcp)")
        .contains("+ wait until SSH answers and cloud-init has set it up")
        .contains(
            "+ tell its server of 'gpu0' who may use it: alice memory=1073741824"
                + " guest-memory=1073741824")
        .contains("+ run a CUDA program in it, once its server answers")
        .doesNotContain("+ wait until its agent", "memory that it shares");
  }

  @Test
  void neighboursShareANetworkWithTheOwner() {
    assertThat(problems(host.distribution(), OWNED.replaceFirst("networks: \\[default]", "")))
        .containsExactly(
            "/d/lab.yaml:9:11: 'alice' cannot reach 'owner', which owns 'gpu0' (let the first"
                + " network of both be the same one of libvirt's, with DHCP)");
  }

  private static final String OWNED =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software, owner: "guest:owner"}]
      guests:
        - {name: owner, image: debian.qcow2, networks: [default]}
        - name: alice
          image: debian.qcow2
          networks: [default]
          vgpu: {gpu: gpu0, memory: 1GiB}
      """;

  @Test
  void whatABundleAsksForIsSaid() {
    assertThat(
            problems(
                host, CLOUD + "    setup: {bundles: [nothing, {name: rcuda-client, files: x}]}\n"))
        .containsExactly(
            "/d/lab.yaml:5:5: there is no bundle 'nothing' (graft bundles lists those that there"
                + " are)",
            "/d/lab.yaml:5:5: the bundle 'rcuda-client' does not fit: it needs a value for"
                + " 'server': The server's host, or HOST@PORT. (graft bundles rcuda-client shows"
                + " what it asks for)");
    assertThat(problems(host, CLOUD + "    setup: {bundles: [{name: infiniband, set: [x=1]}]}\n"))
        .singleElement()
        .asString()
        .contains("it has no setting 'x'; it has []");
  }

  @Test
  void anInitramfsTakesFilesAndNoPackages() {
    assertThat(
            problems(
                host, SMALL.replace("setup: {", "setup: {way: initramfs, bundles: [infiniband], ")))
        .singleElement()
        .asString()
        .contains("gets files from its bundles, and neither packages nor services");
  }

  @Test
  void thatGuestsAreEmulatedIsSaidUntilTheyAreThere() throws Exception {
    Plan first = host.plan(SMALL);
    assertThat(first.warnings()).singleElement().asString().contains("guests are emulated");
    host.carryOut(first);
    assertThat(host.plan(SMALL.replace("256MiB", "512MiB")).warnings()).isEmpty();
  }

  /** Warnings are in the hypervisor's words, which are its own to test. */
  private static String withoutWarnings(Plan plan) {
    assertThat(plan.warnings()).as("emulation is slow").hasSize(1);
    return new Plan(plan.deployment(), plan.uri(), plan.actions(), List.of(), List.of()).toText();
  }

  private static String golden(String name) throws Exception {
    try (InputStream in = PlannerTest.class.getResourceAsStream("/plans/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
