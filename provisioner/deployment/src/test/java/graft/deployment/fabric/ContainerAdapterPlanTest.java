package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.values.Name;
import graft.deployment.DeviceAttachment;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.state.ForgetfulDisk;
import graft.deployment.state.StateFolder;
import graft.deployment.step.guest.DefineGuest;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A network adapter, or a virtual function of one, for a container. */
class ContainerAdapterPlanTest {
  private static final String PF = "0000:3b:00.0";
  private static final String VF = "0000:3b:00.1";
  private static final String SYSFS = "/sys/bus/pci/";
  private static final String REAL = "/sys/devices/pci0000:00/";
  private static final String GIVE =
      "guest alice: + give it the network interface of virtual function 0 of 'net', "
          + VF
          + ", bound to mlx5_core";

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private DeviceHost host;

  @BeforeEach
  void anAdapter() {
    host = new DeviceHost(folder).lxc();
    host.fake.add(FakeDevice.mlx5(PF, 4).ethernet());
    host.fake.takeLog();
  }

  private static String guest(String name, String keys) {
    return "  - {name: " + name + ", root: root.tar, memory: 256MiB, " + keys + "}\n";
  }

  private static String lab(String guests) {
    return """
        graft: 1
        name: lab
        hypervisor: lxc
        fabric: {persistent: false, adapters: [{name: net, device: "0000:3b:00.0", vfs: 2}]}
        guests:
        """
        + guests;
  }

  private static String one() {
    return lab(guest("alice", "vfs: [{adapter: net}]"));
  }

  private static String whole(String address) {
    return "graft: 1\nname: lab\nhypervisor: lxc\nguests:\n"
        + guest("alice", "passthrough: [{pci: \"" + address + "\"}]");
  }

  private void refuses(String descriptor, String... words) {
    host.fake.takeLog();
    assertThatThrownBy(() -> host.plan(descriptor))
        .satisfies(e -> assertThat(e.getMessage()).contains("lab.yaml:").contains(words));
    assertThat(host.fake.takeLog()).isEmpty();
  }

  private void makeFunctions() {
    host.fake.write(SYSFS + "devices/" + PF + "/sriov_numvfs", "2", Duration.ofSeconds(1));
  }

  private void write(String path, String value) {
    host.fake.write(SYSFS + path, value, Duration.ofSeconds(1));
  }

  private String driver(String function) {
    return host.fake.linkName(SYSFS + "devices/" + function + "/driver").orElse("none");
  }

  @Test
  void aFunctionThatIsMadeIsBoundToItsDriverAndItsInterfaceComesIntoTheDefinition()
      throws Exception {
    Plan plan = host.plan(one());
    assertThat(DeviceHost.lines(plan)).contains(GIVE);
    assertThat(plan.toText())
        .contains(
            "network interfaces [0000:3b:00.1]",
            "+ let it start with the network interface of 0000:3b:00.1 and its RDMA device nodes")
        .doesNotContain("vfio");
    assertThat(plan.notes())
        .anyMatch(note -> note.contains("sees the names and addresses of the host's other RDMA"));
    SortedMap<String, String> first = host.fake.state();
    host.apply(plan);
    assertThat(driver(VF)).isEqualTo("mlx5_core");
    assertThat(driver("0000:3b:00.2")).isEqualTo("none");
    assertThat(host.claims()).containsOnlyKeys(VF);
    Plan again = host.plan(one());
    assertThat(DeviceHost.lines(again)).isEmpty();
    assertThat(again.notes()).anyMatch(note -> note.contains("its network interface ens59f0v0"));
    refuses(
        one().replace("name: lab", "name: second").replace("net}", "net, index: 0}"),
        "belongs to the guest 'alice'");
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
    assertThat(host.claims()).isEmpty();
  }

  /** At each moment one of the two ways on is taken, in turn. */
  @Test
  void afterACutOfPowerAtAnyMomentApplyGoesOnAndUndoTakesBack() throws Exception {
    Path state = Files.createDirectories(folder.resolve("state"));
    SortedMap<String, String> first = host.fake.state();
    int moment = 1;
    boolean cut = true;
    while (cut) {
      try (ForgetfulDisk disk = new ForgetfulDisk(state, moment)) {
        cut = catchThrowable(() -> host.apply(host.plan(one()))) != null;
        if (cut) {
          disk.comeBack(new Random(moment));
        }
      }
      if (moment % 2 == 0) {
        host.apply(host.plan(one()));
        assertThat(DeviceHost.lines(host.plan(one()))).as("moment %d", moment).isEmpty();
        assertThat(driver(VF)).as("moment %d", moment).isEqualTo("mlx5_core");
      }
      assertThat(host.undo("lab")).as("moment %d", moment).isEmpty();
      assertThat(host.fake.state()).as("moment %d", moment).isEqualTo(first);
      assertThat(host.claims()).as("moment %d", moment).isEmpty();
      moment++;
    }
    assertThat(moment).isGreaterThan(8);
  }

  /** While it runs, its interface is not on the host; once it is off, the interface is back. */
  @Test
  void theInterfaceOfAContainerThatRunsIsNotMissed() throws Exception {
    host.apply(host.plan(one()));
    host.fake.deleteFile(REAL + VF + "/net");
    host.ownGuest("lab", "alice", true, "ens59f0v0");
    assertThat(DeviceHost.lines(host.plan(one()))).isEmpty();
    host.ownGuest("lab", "alice", false, "ens59f0v0");
    assertThat(DeviceHost.lines(host.plan(one())))
        .containsExactly(GIVE + " (its network interface is not on the host)");
  }

  /** Whatever the container did to it: a driver that is bound anew makes the interface anew. */
  @Test
  void undoBindsTheDriverAnewAndGivesBackTheDriverOfBefore() throws Exception {
    makeFunctions();
    write("devices/" + VF + "/driver_override", "vfio-pci");
    write("drivers/mlx5_core/unbind", VF);
    write("drivers/vfio-pci/bind", VF);
    SortedMap<String, String> first = host.fake.state();
    host.apply(host.plan(one().replace("adapter: net}", "adapter: net, index: 0}")));
    assertThat(driver(VF)).isEqualTo("mlx5_core");
    host.fake.takeLog();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.takeLog())
        .contains(
            SYSFS + "drivers/mlx5_core/unbind = " + VF, SYSFS + "drivers/vfio-pci/bind = " + VF);
    assertThat(host.fake.state()).isEqualTo(first);
  }

  /** Its devices cgroup and its namespace are set up when it starts. */
  @Test
  void nothingIsDetachedFromAContainer() throws Exception {
    Plan plan = host.plan(one());
    host.apply(plan);
    StateFolder state = new StateFolder(new Name("lab"), folder.resolve("state/lab"));
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      for (Action action : plan.actions()) {
        if (action.step() instanceof DefineGuest define) {
          journal.begin(journal.apply("/d/lab.yaml", ""), define, Map.of());
          journal.done(define, Map.of());
        }
      }
    }
    for (String device : List.of(VF, "net:0")) {
      assertThatThrownBy(() -> new DeviceAttachment(state, "alice", device).detachPlan())
          .hasMessageContaining("'alice' gets and loses devices of the host only when it starts")
          .hasMessageContaining("take it out of /d/lab.yaml, then graft apply");
    }
  }

  @Test
  void aFunctionWhoseInterfaceIsElsewhereIsRefused() {
    makeFunctions();
    host.fake.deleteFile(REAL + VF + "/net");
    refuses(
        one().replace("net}", "net, index: 0}"),
        VF + " has no network interface here: another network namespace has it");
  }

  @Test
  void aFunctionThatIsInUseIsRefused() {
    makeFunctions();
    host.fake.file(REAL + VF + "/net/ens59f0v0/operstate", "up");
    refuses(
        one().replace("net}", "net, index: 0}"),
        VF + " is in use on the host: its interface ens59f0v0 is up",
        "ip link set ens59f0v0 down");
    host.fake.file(REAL + VF + "/net/ens59f0v0/operstate", "down");
    host.fake.file(REAL + VF + "/infiniband_verbs/uverbs7/dev", "231:199");
    host.fake.process(9, "ib_write_bw", "/dev/infiniband/uverbs7");
    refuses(one().replace("net}", "net, index: 0}"), "open in");
  }

  @Test
  void aFunctionOfAnotherGuestIsRefused() {
    makeFunctions();
    host.foreignGuest("windows", VF);
    refuses(one().replace("net}", "net, index: 0}"), VF + " belongs to the guest 'windows'");
  }

  @Test
  void whereRdmaDevicesBelongToOneNamespaceNoneIsGiven() {
    host.fake.file("/sys/module/ib_core/parameters/netns_mode", "N");
    refuses(one(), "netns exclusive", "rdma system set netns shared");
    refuses(whole(PF), "netns exclusive");
  }

  @Test
  void functionsThatAreNoNetworkAdaptersAreRefused() {
    host.fake.add(
        FakeDevice.at("0000:01:00.0").pciClass(0x010802).driver("nvme").sriov(4, 0x10, "nvme"));
    refuses(
        one().replace("0000:3b:00.0", "0000:01:00.0"),
        "the virtual functions of 0000:01:00.0 are no network adapters");
  }

  @Test
  void aDriverThatGraftDoesNotKnowIsNotGuessed() {
    host.fake.add(
        FakeDevice.at("0000:05:00.0").pciClass(0x020000).driver("odd").sriov(4, 0x10, "oddvf"));
    refuses(
        one().replace("0000:3b:00.0", "0000:05:00.0"),
        "does not know which driver of the host 0000:05:00.1 needs");
  }

  @Test
  void aWholeAdapterIsGivenUnlessItIsUsedOrHasFunctions() throws Exception {
    refuses(whole(PF), "its interface ens59f0 is up");
    host.fake.file(REAL + PF + "/net/ens59f0/operstate", "down");
    SortedMap<String, String> first = host.fake.state();
    Plan plan = host.plan(whole(PF));
    assertThat(DeviceHost.lines(plan))
        .containsExactly(
            "guest alice: + give it the network interface of 0000:3b:00.0 bound to mlx5_core");
    host.apply(plan);
    assertThat(host.undo("lab")).isEmpty();
    // Only the driver that is bound anew says that it is up again.
    host.fake.file(REAL + PF + "/net/ens59f0/operstate", "down");
    assertThat(host.fake.state()).isEqualTo(first);
    makeFunctions();
    refuses(whole(PF), PF + " has 2 virtual functions, which need it on the host");
    host.fake.add(FakeDevice.mlx5("0000:5e:00.0", 0).driver("vfio-pci"));
    refuses(whole("0000:5e:00.0"), "is bound to vfio-pci", "give it back to the host first");
  }
}
