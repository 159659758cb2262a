package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.InstalledGraft;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.OrderChannels;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.host.MakeSocketFolder;
import graft.deployment.step.host.StartServer;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plans for guests that use GPUs of several servers. */
class SeveralServersPlanTest {
  private static final String CONTAINER =
      """
      graft: 1
      name: lab
      hypervisor: lxc
      gpus: [{name: gpu0, device: software}, {name: gpu1, device: software}]
      guests:
        - name: alice
          root: root.cpio
          memory: 256MiB
          vgpu: [gpu0, gpu1]
      """;
  private static final String MACHINE =
      """
      graft: 1
      name: lab
      gpus:
        - {name: gpu0, device: software, server: {port: 9000}}
        - {name: gpu1, device: software, server: {port: 9001}}
      guests:
        - name: alice
          image: debian.qcow2
          memory: 1GiB
          networks: [user]
          vgpu: [{gpu: gpu0, memory: 1GiB, compute: 25}, {gpu: gpu1, region: 64MiB}]
      """;

  @RegisterExtension final InstalledGraft installed = new InstalledGraft();

  private final FakeHost host = new FakeHost().file("/d/debian.qcow2");

  private static <T> List<T> steps(Plan plan, Action.Kind kind, Class<T> type) {
    return plan.actions().stream()
        .filter(action -> action.kind() == kind)
        .map(Action::step)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private static <T> List<T> steps(Plan plan, Class<T> type) {
    return steps(plan, Action.Kind.DO, type);
  }

  private static List<PayloadFile> files(Plan plan) {
    return steps(plan, BringsPayload.class).get(0).payload().files();
  }

  private static String configuration(Plan plan) {
    return files(plan).stream()
        .filter(file -> file.path().equals(Payload.CLIENT_CONFIGURATION))
        .flatMap(file -> file.text().stream())
        .collect(Collectors.joining());
  }

  private static List<String> ids(Plan plan, Action.Kind kind) {
    return steps(plan, kind, Step.class).stream().map(Step::id).toList();
  }

  @Test
  void aContainerHasASocketATokenAndAPlaceInTheListOfEachServer() throws Exception {
    host.lxc();
    Plan plan = host.plan(CONTAINER);
    List<MakeSocketFolder> sockets = steps(plan, MakeSocketFolder.class);
    assertThat(sockets).extracting(MakeSocketFolder::gpu).containsExactly("gpu0", "gpu1");
    assertThat(sockets).extracting(MakeSocketFolder::folder).doesNotHaveDuplicates();
    assertThat(steps(plan, HostServer.class)).hasSize(2);
    List<GrantAccess> grants = steps(plan, GrantAccess.class);
    assertThat(grants).extracting(GrantAccess::gpu).containsExactly("gpu0", "gpu1");
    assertThat(grants).extracting(GrantAccess::tokens).doesNotHaveDuplicates();
    assertThat(grants).extracting(GrantAccess::token).doesNotHaveDuplicates();
    assertThat(steps(plan, MakeToken.class))
        .extracting(MakeToken::token)
        .containsExactlyElementsOf(grants.stream().map(GrantAccess::token).toList());
    String xml = steps(plan, DefineGuest.class).get(0).xml();
    for (MakeSocketFolder socket : sockets) {
      assertThat(xml).contains("<source dir='" + socket.folder() + "'/>");
    }
    assertThat(xml).contains("dir='/var/lib/graft/server'", "dir='/var/lib/graft/server.gpu1'");
    assertThat(configuration(plan))
        .isEqualTo(
            """
            # Written by graft.
            server = shm:///var/lib/graft/server/server.sock, unix:///var/lib/graft/server/server.sock; shm:///var/lib/graft/server.gpu1/server.sock, unix:///var/lib/graft/server.gpu1/server.sock
            name = alice
            token-file = /etc/graft/token; /etc/graft/token-gpu1
            """);
    assertThat(host.carryOut(plan).plan(CONTAINER).isEmpty()).as("a second plan").isTrue();
  }

  /** So that a further server does not change the options of the first. */
  @Test
  void aServerMayConnectToEarlierOnesOfItsGuestsAndToNobodyElse() throws Exception {
    assertThat(steps(host.plan(MACHINE), StartServer.class))
        .extracting(StartServer::options)
        .containsExactly(List.of(), List.of("--peer", "tcp://127.0.0.1:9000"));
    String one = MACHINE.replaceFirst("vgpu: .*", "vgpu: gpu1");
    assertThat(steps(host.plan(one), StartServer.class))
        .extracting(StartServer::options)
        .containsExactly(List.of());
  }

  @Test
  void eachTokenIsASecretThatOnlyItsGroupMayRead() throws Exception {
    List<PayloadFile> secrets = secrets(host.plan(MACHINE));
    assertThat(secrets)
        .extracting(PayloadFile::path)
        .containsExactly("/etc/graft/token", "/etc/graft/token-gpu1");
    assertThat(secrets).extracting(PayloadFile::mode).containsOnly(0600);
    assertThat(secrets).extracting(PayloadFile::group).containsOnly("root");
    String group = MACHINE.replace("    vgpu:", "    setup: {group: cuda}\n    vgpu:");
    assertThat(secrets(host.plan(group))).extracting(PayloadFile::mode).containsOnly(0640);
    assertThat(secrets(host.plan(group))).extracting(PayloadFile::group).containsOnly("cuda");
  }

  private static List<PayloadFile> secrets(Plan plan) {
    return files(plan).stream()
        .filter(file -> file.path().startsWith(Payload.TOKEN))
        .filter(file -> file.secret().isPresent())
        .toList();
  }

  @Test
  void aMachineSharesMemoryWithEachServerAndHasTheSettingsOfEachVGpu() throws Exception {
    Plan plan = host.plan(MACHINE);
    assertThat(steps(plan, MakeRegion.class))
        .extracting(MakeRegion::file)
        .containsExactly(
            Path.of("/dev/shm/graft.lab.alice"), Path.of("/dev/shm/graft.lab.alice.gpu1"));
    assertThat(steps(plan, GrantAccess.class))
        .extracting(GrantAccess::settings)
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .contains("memory=1073741824", "region=/dev/shm/graft.lab.alice", "25"),
            second -> assertThat(second).isEqualTo("region=/dev/shm/graft.lab.alice.gpu1"));
    assertThat(steps(plan, DefineGuest.class).get(0).xml())
        .contains("<shmem name='graft.lab.alice'>", "<shmem name='graft.lab.alice.gpu1'>");
    assertThat(steps(plan, DefineGuest.class).get(0).summary())
        .endsWith("channels ivshmem (256MiB), tcp; ivshmem (64MiB), tcp");
    assertThat(configuration(plan))
        .contains(
            "server = ivshmem://10.0.2.2:9000, tcp://10.0.2.2:9000;"
                + " ivshmem://10.0.2.2:9001, tcp://10.0.2.2:9001\n",
            "encryption = never\n");
    assertThat(host.carryOut(plan).plan(MACHINE).isEmpty()).as("a second plan").isTrue();
  }

  @Test
  void theRegionsOfOneGuestHaveToFitTogether() throws Exception {
    host.sharedMemory(150L << 20);
    assertThat(configuration(host.plan(MACHINE)))
        .contains("server = ivshmem://10.0.2.2:9000, tcp://10.0.2.2:9000; tcp://10.0.2.2:9001\n");
  }

  @Test
  void aListOfOneMeansTheSameAsOneValue() throws Exception {
    String one = MACHINE.replaceFirst("vgpu: .*", "vgpu: gpu1");
    assertThat(host.plan(one.replace("vgpu: gpu1", "vgpu: [gpu1]")).toTree())
        .isEqualTo(host.plan(one).toTree());
    assertThat(steps(host.plan(one), MakeToken.class))
        .containsExactly(
            new MakeToken(
                "alice",
                steps(host.plan(one), GrantAccess.class).get(0).token(),
                Optional.empty()));
  }

  @Test
  void aFurtherServerLeavesTheTokenOfTheFirstAndGoesAloneAgain() throws Exception {
    String one = MACHINE.replaceFirst(", \\{gpu: gpu1.*\\}\\]", "]");
    host.carryOut(host.plan(one));
    Plan more = host.plan(MACHINE);
    assertThat(ids(more, Action.Kind.DO))
        .contains("guest/alice/token-gpu1", "guest/alice/access-gpu1", "guest/alice/region-gpu1")
        .doesNotContain("guest/alice/token", "guest/alice/access-gpu0", "server/gpu0/server");
    host.carryOut(more);
    assertThat(host.plan(MACHINE).isEmpty()).as("a second plan").isTrue();
    Plan fewer = host.plan(one);
    assertThat(ids(fewer, Action.Kind.UNDO))
        .contains("guest/alice/token-gpu1", "guest/alice/access-gpu1", "guest/alice/region-gpu1")
        .doesNotContain("guest/alice/token", "guest/alice/access-gpu0", "server/gpu0/server");
  }

  @Test
  void anotherOrderOfTheListIsAnotherConfiguration() throws Exception {
    host.lxc().carryOut(host.plan(CONTAINER));
    String turned = CONTAINER.replace("[gpu0, gpu1]", "[gpu1, gpu0]");
    Plan plan = host.plan(turned);
    assertThat(configuration(plan)).contains("server.gpu0", "token-gpu0").doesNotContain("gpu1");
    assertThat(host.carryOut(plan).plan(turned).isEmpty()).as("a second plan").isTrue();
  }

  @Test
  void aServerOfANodeHasTheTokenOfTheNode() throws Exception {
    String node =
        MACHINE
            .replace(
                "  - {name: gpu1, device: software, server: {port: 9001}}\n",
                "  - {name: gpu1, owner: \"node:big\", device: gpu}\n"
                    + "nodes: [{name: big, server: \"tcp://10.0.0.5:8692\", token-file: t}]\n")
            .replace("region: 64MiB", "channel: auto");
    Plan plan = host.file("/d/t").plan(node);
    assertThat(steps(plan, MakeToken.class)).hasSize(1);
    assertThat(steps(plan, GrantAccess.class)).extracting(GrantAccess::gpu).containsOnly("gpu0");
    assertThat(secrets(plan).get(1).secret()).contains(Path.of("/d/t"));
    assertThat(configuration(plan))
        .contains("; tcp://10.0.0.5:8692\n")
        .as("what goes to the node is encrypted")
        .doesNotContain("encryption");
  }

  @Test
  void theChannelsOfSeveralServersStayInTheirUsualOrder() throws Exception {
    Plan plan = host.plan(MACHINE);
    assertThat(plan.channels())
        .singleElement()
        .satisfies(
            choice -> {
              assertThat(choice.by()).isEqualTo(ChannelChoice.By.SEVERAL_SERVERS);
              assertThat(choice.usual()).hasSize(4);
            });
    assertThat(steps(plan, OrderChannels.class)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "'[gpu0, {gpu: gpu0, memory: 1GiB}]',lab.yaml:9:18: the guest has two vGPUs of 'gpu0'",
    "'[gpu0, gpu7]',lab.yaml:9:18: there is no GPU named 'gpu7'",
    "'[gpu0, [gpu1]]',lab.yaml:9:18: an item of 'vgpu' must be",
  })
  void whatCannotBeMeantIsRefusedAtItsPlace(String vgpu, String why) {
    host.lxc();
    assertThatThrownBy(() -> host.plan(CONTAINER.replace("[gpu0, gpu1]", vgpu)))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining(why);
  }

  @Test
  void moreServersThanTheClientTakesAreRefused() {
    List<String> names = IntStream.range(0, 8).mapToObj(i -> "gpu" + i).toList();
    String gpus =
        names.stream()
            .map(name -> "{name: " + name + ", device: software}")
            .collect(Collectors.joining(", "));
    String eight =
        CONTAINER
            .replaceFirst("gpus: .*", "gpus: [" + gpus + "]")
            .replaceFirst("vgpu: .*", "vgpu: " + names);
    host.lxc();
    assertThatThrownBy(() -> host.plan(eight))
        .hasMessageContaining("the guest has 8 vGPUs, and its client uses 7 servers at most");
  }

  @ParameterizedTest
  @CsvSource({"'',lab.yaml:10:", "'    networks: [closed]\n',lab.yaml:10:"})
  void aClosedNetworkReachesOneServer(String networks, String where) {
    String closed = MACHINE.replace("    networks: [user]\n", networks);
    assertThatThrownBy(() -> host.plan(closed))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining(where)
        .hasMessageContaining("vGPUs of 2 servers, and a closed network reaches one");
  }
}
