package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.InstalledGraft;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.state.SubordinateIds;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.MakeRoot;
import graft.deployment.step.guest.RegisterUsers;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.host.MakeSocketFolder;
import graft.guests.container.RootSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is planned for containers, and what is refused. */
class ContainerPlanTest {
  private static final String ONE =
      """
      graft: 1
      name: lab
      hypervisor: lxc
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          root: root.cpio
          memory: 256MiB
          vgpu: gpu0
      """;
  private static final String TWO =
      ONE + ONE.substring(ONE.indexOf("  - name: alice")).replace("alice", "bob");

  @RegisterExtension final InstalledGraft installed = new InstalledGraft();

  private final FakeHost host = new FakeHost().lxc();

  private static <T extends Step> List<T> steps(Plan plan, Class<T> type) {
    return plan.actions().stream()
        .map(Action::step)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private void refuses(String descriptor, String... words) {
    assertThatThrownBy(() -> host.plan(descriptor))
        .satisfies(e -> assertThat(e.getMessage()).contains(words));
  }

  @Test
  void aContainerHasItsUsersItsRootAndASocketOfItsServer() throws Exception {
    Plan plan = host.plan(ONE);
    RegisterUsers users = steps(plan, RegisterUsers.class).get(0);
    assertThat(users.ids()).isEqualTo(SubordinateIds.free(List.of()));
    assertThat(users.owner()).isEqualTo("graft-lab-alice");
    assertThat(steps(plan, MakeRoot.class).get(0).ids()).isEqualTo(users.ids());
    MakeSocketFolder socket = steps(plan, MakeSocketFolder.class).get(0);
    assertThat(socket.group()).isEqualTo(users.ids().first());
    assertThat(steps(plan, HostServer.class).get(0).listen().toString())
        .contains("tcp://127.0.0.1:", "unix://" + socket.folder() + "/server.sock");
    assertThat(steps(plan, DefineGuest.class).get(0).xml())
        .contains(
            "<domain type='lxc'>",
            "<init>/init</init>",
            "target='" + users.ids().first() + "'",
            "<source dir='" + socket.folder() + "'/>",
            "<readonly/>",
            "<quota>100000</quota>")
        .doesNotContain("<interface");
    assertThat(steps(plan, DefineGuest.class).get(0).summary())
        .isEqualTo("1 CPU, 256MiB, channels shm, unix");
    assertThat(steps(plan, BringsPayload.class).get(0).describe()).contains("in its namespaces");
    assertThat(steps(plan, GrantAccess.class).get(0).settings()).isEmpty();
    assertThat(host.carryOut(plan).plan(ONE).isEmpty()).as("a second plan").isTrue();
  }

  @Test
  void containersNeitherShareUsersNorSockets() throws Exception {
    long first = SubordinateIds.free(List.of()).first();
    Plan plan = host.taken(first, 1).plan(TWO);
    assertThat(steps(plan, RegisterUsers.class))
        .extracting(users -> users.ids().first())
        .containsExactly(first + SubordinateIds.COUNT, first + 2 * SubordinateIds.COUNT);
    assertThat(steps(plan, MakeSocketFolder.class))
        .extracting(MakeSocketFolder::folder)
        .doesNotHaveDuplicates();
  }

  /** A container keeps its users, whose files are in its root folder. */
  @Test
  void aContainerKeepsItsUsersWhenOneBeforeItGoes() throws Exception {
    host.carryOut(host.plan(TWO));
    Plan plan = host.plan(TWO.replaceFirst("(?s)  - name: alice.*?(?=  - name: bob)", ""));
    assertThat(plan.actions())
        .noneMatch(
            a -> a.step().id().equals("guest/bob/users") || a.step().id().equals("guest/bob/root"));
  }

  @Test
  void theRootFolderIsDataThatIsDeletedOnlyByName() throws Exception {
    host.carryOut(host.plan(ONE));
    Plan plan = host.plan(ONE.substring(0, ONE.indexOf("guests:")));
    assertThat(plan.deletedData()).singleElement().asString().contains("the root folder of alice");
  }

  @Test
  void aRootFolderThatNoJournalKnowsIsNotDeleted() {
    host.folder("/var/lib/libvirt/images/graft/lab/alice/container");
    refuses(ONE, "lab.yaml:6:", "alice/container, which no apply on record has made");
  }

  @Test
  void theSocketOfAContainerStaysWhenOneComesBeforeIt() throws Exception {
    host.carryOut(host.plan(ONE.replace("alice", "bob")));
    assertThat(steps(host.plan(TWO), MakeSocketFolder.class))
        .extracting(MakeSocketFolder::guest)
        .containsExactly("alice");
  }

  @Test
  void usersThatAreNotRegisteredInBothFilesAreRegisteredAgain() throws Exception {
    host.carryOut(host.plan(ONE));
    assertThat(steps(host.notRegistered().plan(ONE), RegisterUsers.class)).hasSize(1);
  }

  @Test
  void usersThatSomebodyElseGotMeanwhileAreGivenUpUntilFilesBelongToThem() throws Exception {
    RegisterUsers first = steps(host.plan(ONE), RegisterUsers.class).get(0);
    host.taken(first.ids().first(), 1).failed(first);
    assertThat(steps(host.plan(ONE), RegisterUsers.class))
        .extracting(users -> users.ids().first())
        .contains(first.ids().first() + SubordinateIds.COUNT);
  }

  @Test
  void usersToWhomFilesBelongAreKept() throws Exception {
    host.carryOut(host.plan(ONE));
    RegisterUsers first =
        new RegisterUsers("alice", "graft-lab-alice", SubordinateIds.free(List.of()));
    host.notRegistered().failed(first);
    assertThat(steps(host.plan(ONE), RegisterUsers.class)).containsExactly(first);
  }

  @Test
  void aFolderIsNotCopiedIntoItself() {
    host.root("/", new RootSource("/sbin/init", "", ""));
    refuses(ONE.replace("root.cpio", "/"), "lab.yaml:7:", "would lie in /, from which it is");
    host.root("/var/lib", new RootSource("/sbin/init", "", ""));
    refuses(ONE.replace("root.cpio", "/var/lib"), "lab.yaml:7:", "would lie in /var/lib,");
  }

  @Test
  void aNetworkOfLibvirtsGivesTcpToo() throws Exception {
    Plan plan = host.plan(ONE.replace("vgpu:", "networks: [default]\n    vgpu:"));
    assertThat(steps(plan, DefineGuest.class).get(0).summary()).contains("shm, unix, tcp");
    assertThat(steps(plan, DefineGuest.class).get(0).xml()).contains("<source network='default'/>");
  }

  @ParameterizedTest
  @CsvSource({
    "'root: root.cpio','kernel: {image: vmlinuz}',a container runs the host's kernel",
    "'root: root.cpio','image: debian.qcow2',a container has no disks",
    "'root: root.cpio','cpus: 1',the container has no root folder",
    "'memory: 256MiB','firmware: uefi',has no firmware",
    "'memory: 256MiB','virtualization: pvh',a container is not virtualized",
    "'memory: 256MiB','hide-hypervisor: true',no hypervisor that could be hidden",
    "'memory: 256MiB','placement: {huge-pages: 2MiB}',huge pages",
    "'memory: 256MiB','disks: [{name: a, size: 1GiB}]',a container has no disks",
    "'memory: 256MiB','passthrough: [{pci: \"0000:65:00.0\"}]',either a GPU of its own or a vgpu",
    "'vgpu: gpu0','passthrough: [{pci: \"0000:65:00.0\", type: 5}]',NVIDIA vGPUs are for virtual",
    "'vgpu: gpu0','passthrough: [{mig: MIG-1}]',no container a MIG instance",
    "'memory: 256MiB','setup: {way: seed}',neither an image nor an initramfs",
    "'memory: 256MiB','setup: {group: cuda}',for the container's root alone",
  })
  void whatOnlyAMachineCanHaveIsRefusedAtItsKey(String instead, String key, String why) {
    String descriptor = ONE.replace(instead, key);
    assertThatThrownBy(() -> host.plan(descriptor))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aVirtualMachineHasNoRootFolder() {
    refuses(
        ONE.replace("hypervisor: lxc", "hypervisor: kvm"), "only a container has a root folder");
  }

  @Test
  void rootsThatCannotBecomeContainersAreRefusedAtTheirPlace() {
    refuses(
        ONE.replace("root.cpio", "nothing"),
        "lab.yaml:7:",
        "neither a folder nor a file /d/nothing");
    host.root("/d/root.cpio", new RootSource("", "has no init: none", "install one"));
    refuses(ONE, "lab.yaml:7:", "/d/root.cpio has no init");
  }

  @Test
  void networksThatOnlyQemuHasAreRefused() {
    refuses(ONE.replace("vgpu:", "networks: [user]\n    vgpu:"), "user-mode network");
    refuses(
        ONE.replace("gpu0\n", "{gpu: gpu0, channel: vsock}\n")
            .replace("[{name: {gpu: gpu0, channel: vsock}", "[{name: gpu0"),
        "cannot use vsock");
    refuses(
        ONE.replace("vgpu: gpu0", "vgpu: {gpu: gpu0, channel: tcp}"),
        "cannot use tcp",
        "no network");
  }

  @Test
  void onlyRootStartsContainers() {
    host.notRoot();
    refuses(ONE, "only root can put guests' files where lxc:///system runs them", "be root");
  }
}
