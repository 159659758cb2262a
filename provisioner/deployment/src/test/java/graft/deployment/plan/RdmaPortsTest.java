package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.Name;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.DeviceObserver;
import graft.deployment.observe.Known;
import graft.deployment.observe.LibvirtFacts;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which ports rdma goes by: those of a guest's virtual functions, and those of its server. */
class RdmaPortsTest {
  private static final String BOTH = "{adapter: ib0, index: 0}, {adapter: ib0, index: 1}";

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private FakeHost host;

  @BeforeEach
  void threeAdapters() {
    FakeSysfs fake = new FakeSysfs(folder.resolve("host"));
    fake.loadDriver("vfio-pci").file("/proc/sys/kernel/random/boot_id", "first");
    fake.add(FakeDevice.mlx5("0000:3b:00.0", 8))
        .add(FakeDevice.mlx5("0000:5e:00.0", 8))
        .add(FakeDevice.mlx5("0000:af:00.0", 8).ethernet());
    host =
        new FakeHost()
            .ucx()
            .distribution()
            .file("/d/debian.qcow2")
            .devices(seen(new HostAccess(fake, fake.links(), TimeLimits.DEFAULT)));
  }

  private DeviceFacts seen(HostAccess access) {
    return new DeviceObserver(access, folder.resolve("claims"))
        .observe(
            new Name("lab"), Known.NOTHING, () -> LibvirtFacts.unreachable("qemu:///system", ""));
  }

  @Test
  void guidsThatAreGivenAreKnown() throws Exception {
    String given =
        ", virtual-functions: [{index: 1, port-guid: \"02:00:00:00:00:00:00:11\"}, {index: 0,"
            + " port-guid: \"02:00:00:00:00:00:00:10\"}]";
    assertThat(client(infiniband(given), BOTH)).isEqualTo("0x0200000000000010,0x0200000000000011");
    assertThat(client(infiniband(given), "{adapter: ib0, index: 1}"))
        .isEqualTo("0x0200000000000011");
  }

  @Test
  void guidsThatAreMadeAreKnownAndSoIsAFunctionThatIsFree() throws Exception {
    assertThat(client(infiniband(""), "{adapter: ib0}")).isEqualTo("0x02c37cd85cf96000");
    assertThat(client(infiniband(""), "{adapter: ib0}, {adapter: ib0, index: 0}"))
        .isEqualTo("0x02c37cd85cf96000,0x02c37cd85cf96001");
    assertThat(client(infiniband(", guid-base: \"06:00:00:00:00:00:00:01\""), BOTH))
        .matches("0x06[0-9a-f]{11}000,0x06[0-9a-f]{11}001");
  }

  @Test
  void portsOfEthernetAreKnownByTheMacThatIsGiven() throws Exception {
    String macs =
        "{name: eth0, device: mlx5_af_0, vfs: 3, virtual-functions: [{index: 0, mac:"
            + " \"02:00:00:00:00:0a\"}, {index: 2, mac: \"02:00:00:00:00:0c\"}]}";
    assertThat(client(macs, "{adapter: eth0, index: 2}, {adapter: eth0, index: 0}"))
        .isEqualTo("02:00:00:00:00:0c,02:00:00:00:00:0a");
    assertThat(client(macs, "{adapter: eth0, index: 0}, {adapter: eth0, index: 1}"))
        .as("a function without one")
        .isEmpty();
  }

  @Test
  void aGuestWithoutFunctionsOrOnAnotherChannelNamesNone() throws Exception {
    assertThat(client(infiniband(""), "")).isEmpty();
    assertThat(ports(plan(infiniband(""), "{adapter: ib0}", "", "tcp"))).isEmpty();
  }

  @Test
  void theHostsServerTakesThePortsOfTheOnlyAdapter() throws Exception {
    assertThat(server(infiniband(""), "{adapter: ib0}", "")).isEqualTo("mlx5_3b_0:1");
    assertThat(server(infiniband("") + ", " + other(), "{adapter: ib0}", "")).isEmpty();
    assertThat(server("", "", "")).isEmpty();
  }

  @Test
  void aGuestThatUsesRdmaWithoutAFunctionCanReachTheServer() throws Exception {
    assertThat(server(infiniband(""), "", "")).isEmpty();
  }

  @Test
  void theServersPortsAreThoseThatAreGiven() throws Exception {
    String given = ", server: {rdma-ports: [mlx5_5e_0:1, \"02:00:00:00:00:0A\"]}";
    for (String functions : new String[] {"", "{adapter: ib0}"}) {
      assertThat(server(infiniband("") + ", " + other(), functions, given))
          .isEqualTo("mlx5_5e_0:1,02:00:00:00:00:0a");
    }
  }

  @Test
  void aServerInAGuestTakesThePortsOfItsGuest() throws Exception {
    String descriptor =
        """
        graft: 1
        name: lab
        gpus: [{name: gpu0, owner: "guest:owner", device: software%s}]
        fabric: {persistent: false, adapters: [%s]}
        guests:
          - {name: owner, image: debian.qcow2, memory: 1GiB, networks: [default], vfs: [%s]}
          - name: alice
            image: debian.qcow2
            memory: 1GiB
            networks: [default]
            vfs: [{adapter: ib0, index: 0}]
            vgpu: {gpu: gpu0, channel: rdma, unencrypted: [rdma]}
        """;
    String function = "{adapter: ib0, index: 1}";
    assertThat(options(descriptor.formatted("", infiniband(""), function)))
        .isEqualTo("--spare 1 --rdma-ports 0x02c37cd85cf96001");
    assertThat(options(descriptor.formatted("", infiniband(""), ""))).isEqualTo("--spare 1");
    String given = ", server: {rdma-ports: [mlx5_0:1]}";
    assertThat(options(descriptor.formatted(given, infiniband(""), function)))
        .isEqualTo("--spare 1 --rdma-ports mlx5_0:1");
  }

  private static String infiniband(String more) {
    return "{name: ib0, device: mlx5_3b_0, vfs: 2" + more + "}";
  }

  private static String other() {
    return "{name: ib1, device: mlx5_5e_0}";
  }

  private Plan plan(String adapters, String functions, String server, String channel)
      throws Exception {
    return host.plan(
        """
        graft: 1
        name: lab
        gpus: [{name: gpu0, device: software%s}]
        fabric: {persistent: false, adapters: [%s]}
        guests:
          - name: alice
            image: debian.qcow2
            memory: 1GiB
            vfs: [%s]
            vgpu: {gpu: gpu0, channel: %s, unencrypted: [rdma]}
        """
            .formatted(server, adapters, functions, channel));
  }

  /** What the client of a guest with these functions is told. */
  private String client(String adapters, String functions) throws Exception {
    return ports(plan(adapters, functions, "", "rdma"));
  }

  private static String ports(Plan plan) {
    String tree = String.valueOf(plan.toTree());
    assertThat(tree).contains("# Written by graft.");
    return found("rdma-ports = (.*)", tree);
  }

  /** What the host's server is told. */
  private String server(String adapters, String functions, String server) throws Exception {
    return found(", rdma by (.*)\\)", plan(adapters, functions, server, "rdma").toText());
  }

  private String options(String descriptor) throws Exception {
    String tree = String.valueOf(host.plan(descriptor).toTree());
    return found("--device software (.*) --operator ", tree);
  }

  private static String found(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    return matcher.find() ? matcher.group(1) : "";
  }
}
