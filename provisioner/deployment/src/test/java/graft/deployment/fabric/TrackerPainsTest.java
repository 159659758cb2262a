package graft.deployment.fabric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.host.HostPci;
import graft.sriov.preflight.Preflight;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What users of passthrough and virtual functions report most in public trackers: each has a host
 * that shows it, and the doctor or the plan names it before anything changes. The table in
 * docs/hypervisors.md has a line for each.
 */
class TrackerPainsTest {
  private static final String GPU = "0000:65:00.0";
  private static final String PASSED = "passthrough: [{pci: \"" + GPU + "\"}]";
  private static final String ADAPTER =
      "fabric: {persistent: false, adapters: [{name: ib0, device: mlx5_3b_0, vfs: 2}]}\n";

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  /**
   * One of them.
   *
   * @param name as in the table of the documentation
   * @param host makes a host that shows it
   * @param descriptor what a user would plan there; empty where the doctor finds it
   * @param expected what is said
   */
  private record Pain(String name, Consumer<FakeSysfs> host, String descriptor, String expected) {}

  private static final List<Pain> PAINS =
      List.of(
          new Pain(
              "a GPU that did not come back from a guest",
              host -> host.loadDriver("vfio-pci").add(FakeDevice.gpu(GPU).driver("vfio-pci")),
              "",
              "WARNING 0000:65:00.0: the GPU belongs to vfio-pci and no running guest has it"),
          new Pain(
              "a network interface that did not come back from a container",
              host -> {
                host.add(FakeDevice.mlx5("0000:3b:00.0", 0).ethernet());
                host.deleteFile("/sys/devices/pci0000:00/0000:3b:00.0/net");
              },
              "",
              "WARNING 0000:3b:00.0: it is bound to mlx5_core and has no network interface here"),
          new Pain(
              "a virtual function whose GUID is zero",
              host ->
                  host.add(FakeDevice.mlx5("0000:3b:00.0", 4))
                      .write(
                          "/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs",
                          "1",
                          java.time.Duration.ofSeconds(1)),
              "",
              "WARNING 0000:3b:00.1: the virtual function mlx5_3b_0v0 has no node GUID"),
          new Pain(
              "a GUID that no port may have",
              host -> host.add(FakeDevice.mlx5("0000:3b:00.0", 4)),
              ADAPTER + guest("vfs: [{adapter: ib0, node-guid: \"00:00:00:00:00:00:00:00\"}]"),
              "'node-guid'"),
          new Pain(
              "a physical function that lost its driver to vfio-pci",
              host ->
                  host.loadDriver("vfio-pci")
                      .add(FakeDevice.mlx5("0000:3b:00.0", 4).driver("vfio-pci")),
              "",
              "PROBLEM 0000:3b:00.0: its physical function belongs to vfio-pci"),
          new Pain(
              "a physical function passed through while it has virtual functions",
              host ->
                  host.add(FakeDevice.mlx5("0000:3b:00.0", 4))
                      .write(
                          "/sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs",
                          "2",
                          java.time.Duration.ofSeconds(1)),
              guest("passthrough: [{pci: \"0000:3b:00.0\"}]"),
              "it is a physical function with 2 VFs, which would vanish"),
          new Pain(
              "a GPU too large for a BIOS",
              host -> host.add(FakeDevice.gpu(GPU)),
              guest(PASSED),
              "0000:65:00.0 maps 64GiB at once, for which a BIOS often has no room"),
          new Pain(
              "a GPU too large for the usual window of UEFI",
              host -> host.add(FakeDevice.gpu(GPU)),
              guest(PASSED + "\n    firmware: uefi"),
              "X-PciMmio64Mb,string=131072"),
          new Pain(
              "memory for VFIO_MAP_DMA that is not free",
              host ->
                  host.node(0, "0-3", 2048)
                      .node(1, "4-7", 2048)
                      .add(FakeDevice.gpu(GPU).numa(1))
                      .add(FakeDevice.gpu("0000:67:00.0").numa(1)),
              guest(
                      PASSED.replace("]", ", {pci: \"0000:67:00.0\"}]")
                          + "\n    placement: {numa: strict, pin: [4]}")
                  .replace("1GiB", "3GiB"),
              "NUMA node 1 has 2GiB free for 3GiB"),
          new Pain(
              "34 NUMA nodes, of which 2 have CPUs",
              host -> {
                for (int node = 0; node < 34; node++) {
                  host.node(node, node == 0 ? "0-3" : node == 1 ? "4-7" : "", node < 2 ? 8192 : 0);
                }
                host.add(FakeDevice.gpu(GPU).numa(10));
              },
              guest(PASSED + "\n    placement: {numa: strict}"),
              "the NUMA nodes of its devices, [10], have no CPUs"),
          new Pain(
              "an IOMMU that is off",
              host -> host.add(FakeDevice.gpu(GPU).withoutGroup()),
              guest(PASSED),
              "the host has no IOMMU in use"),
          new Pain(
              "a group that is not viable",
              host ->
                  host.add(FakeDevice.at("0000:67:00.0").driver("e1000e").group(8))
                      .add(FakeDevice.gpu(GPU).group(8)),
              guest(PASSED),
              "IOMMU group 8 is not viable: it also holds 0000:67:00.0"),
          new Pain(
              "a GPU that a process of the host has open",
              host -> host.add(FakeDevice.gpu(GPU)).process(7, "nvidia-persiste", "/dev/nvidia0"),
              guest(PASSED),
              "Stop the persistence daemon"),
          new Pain(
              "firmware without virtual functions",
              host -> host.add(FakeDevice.mlx5("0000:3b:00.0", 0)),
              ADAPTER + guest(""),
              "its firmware offers no virtual functions"),
          new Pain(
              "a subnet manager that does not know virtual ports",
              host -> {
                host.add(FakeDevice.mlx5("0000:3b:00.0", 8)).process(600, "opensm");
                String port = "/sys/bus/pci/devices/0000:3b:00.0/infiniband/mlx5_3b_0/ports/1/";
                host.file(port + "lid", "0x2").file("/usr/sbin/opensm", "\u007fELF lash_start_vl");
              },
              "",
              "PROBLEM mlx5_3b_0 port 1: the opensm of this host (/usr/sbin/opensm) is the community's"));

  private static String guest(String keys) {
    return """
    guests:
      - name: alice
        image: debian.qcow2
        memory: 1GiB
        %s
    """
        .formatted(keys);
  }

  @Test
  void eachIsNamedBeforeAnythingChanges() throws Exception {
    List<String> missed = new ArrayList<>();
    for (Pain pain : PAINS) {
      String said = said(pain);
      if (!said.contains(pain.expected())) {
        missed.add(pain.name() + ": " + said);
      }
    }
    System.out.printf("%d of %d caught before apply%n", PAINS.size() - missed.size(), PAINS.size());
    assertThat(missed).isEmpty();
  }

  @Test
  void eachHasALineInTheDocumentation() throws Exception {
    String page = Files.readString(Path.of("../../docs/hypervisors.md"), UTF_8);
    int begin = page.indexOf("### What users of passthrough run into");
    List<String> rows =
        page.substring(begin, page.indexOf("## NUMA", begin))
            .lines()
            .filter(line -> line.matches("\\| .* \\| (doctor|plan) \\| .*"))
            .toList();
    assertThat(rows).hasSize(PAINS.size());
    assertThat(PAINS)
        .allSatisfy(
            pain -> assertThat(rows).anyMatch(row -> row.startsWith("| " + pain.name() + " |")));
  }

  private String said(Pain pain) throws Exception {
    Path place = Files.createTempDirectory(folder, "host");
    DeviceHost host = new DeviceHost(place);
    pain.host().accept(host.fake);
    host.fake.takeLog();
    if (pain.descriptor().isEmpty()) {
      return Preflight.check(host.fake, HostPci.read(host.fake)).toString();
    }
    String[] planned = {""};
    Throwable refused =
        catchThrowable(() -> planned[0] = text(host, "graft: 1\nname: lab\n" + pain.descriptor()));
    assertThat(host.fake.takeLog()).as("what a plan changes").isEmpty();
    if (refused == null) {
      return planned[0];
    }
    assertThat(refused.getMessage()).as(pain.name()).contains("lab.yaml:");
    return refused.getMessage();
  }

  /** Everything that a plan says, the domain's XML included. */
  private static String text(DeviceHost host, String descriptor) throws Exception {
    var plan = host.plan(descriptor);
    return plan.warnings() + "\n" + plan.notes() + "\n" + plan.toTree();
  }
}
