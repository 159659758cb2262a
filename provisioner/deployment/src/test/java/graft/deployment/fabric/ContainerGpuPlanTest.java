package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.deployment.plan.Plan;
import graft.deployment.state.ForgetfulDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.SortedMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A GPU of its own for a container: what it gets of the host, and what is refused. */
class ContainerGpuPlanTest {
  private static final String GPU = "0000:65:00.0";
  private static final String OTHER = "0000:b1:00.0";
  private static final String LIBRARIES = "/usr/lib/x86_64-linux-gnu/";
  private static final String PASSED = "passthrough: [{pci: \"" + GPU + "\"}]";
  private static final String CDI =
      """
      ---
      cdiVersion: 0.5.0
      containerEdits:
        deviceNodes:
        - path: /dev/nvidiactl
        - path: /dev/nvidia-uvm
        hooks:
        - {args: [nvidia-cdi-hook, update-ldcache], hookName: createContainer, path: /usr/bin/nvidia-cdi-hook}
        mounts:
        - {containerPath: /opt/nvidia/libcuda.so.580.82.07, hostPath: /opt/nvidia/libcuda.so.580.82.07, options: [ro, bind]}
        - {containerPath: /run/nvidia-persistenced/socket, hostPath: /run/nvidia-persistenced/socket, options: [ro]}
      devices:
      - {name: "0", containerEdits: {deviceNodes: [{path: /dev/nvidia0, major: 195, fileMode: 438}, {path: /dev/dri/card0}]}}
      - {name: "1", containerEdits: {deviceNodes: [{path: /dev/nvidia1}]}}
      - {name: all, containerEdits: {deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}]}}
      kind: nvidia.com/gpu
      """;

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private DeviceHost host;

  /** With Debian's links: the folder of alternatives has the program. */
  @BeforeEach
  void twoGpusWithTheirDriver() {
    host = new DeviceHost(folder).lxc();
    host.fake.add(FakeDevice.gpu(GPU)).add(FakeDevice.gpu(OTHER).group(30));
    for (String node : new String[] {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"}) {
      host.fake.file("/dev/" + node, "");
    }
    host.fake
        .file("/sys/module/nvidia/version", "580.82.07")
        .file(LIBRARIES + "libcuda.so.580.82.07", "")
        .file(LIBRARIES + "libnvidia-nvvm.so.580.82.07", "")
        .file(LIBRARIES + "libnvidia-gpucomp.so.580.82.07", "")
        .file(LIBRARIES + "libcuda.so.535.1", "an earlier version")
        .file("/opt/smi", "")
        .link("/etc/alternatives/nvidia-smi", "../../opt/smi")
        .link("/usr/bin/nvidia-smi", "/etc/alternatives/nvidia-smi");
    host.fake.takeLog();
  }

  private static String guest(String name, String keys) {
    return "  - {name: " + name + ", root: root.tar, memory: 256MiB, " + keys + "}\n";
  }

  private static String lab(String guests) {
    return "graft: 1\nname: lab\nhypervisor: lxc\nguests:\n" + guests;
  }

  private static String one() {
    return lab(guest("alice", PASSED));
  }

  private static String xml(Plan plan) {
    return plan.actions().stream()
        .filter(action -> action.step() instanceof DefineGuest)
        .map(action -> ((DefineGuest) action.step()).xml())
        .findFirst()
        .orElseThrow();
  }

  private void refuses(String descriptor, String... words) {
    assertThatThrownBy(() -> host.plan(descriptor))
        .satisfies(e -> assertThat(e.getMessage()).contains("lab.yaml:").contains(words));
    assertThat(host.fake.takeLog()).isEmpty();
  }

  @Test
  void itGetsTheNodesOfItsGpuAndTheLibrariesOfTheDriversVersion() throws Exception {
    Plan plan = host.plan(one());
    assertThat(DeviceHost.lines(plan))
        .containsExactly("guest alice: + give it 0000:65:00.0, which stays bound to nvidia");
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("BIOS"));
    assertThat(plan.toText()).doesNotContain("attach 0000:65:00.0").contains("install in its");
    String xml = xml(plan);
    assertThat(xml)
        .contains(
            "<hostdev mode='capabilities' type='misc'>",
            "<char>/dev/nvidia0</char>",
            "<char>/dev/nvidiactl</char>",
            "<char>/dev/nvidia-uvm</char>",
            "<char>/dev/nvidia-uvm-tools</char>")
        .doesNotContain("/dev/nvidia1", "535.1");
    assertThat(xml.replaceAll("\\s+", ""))
        .contains(
            bound(LIBRARIES + "libcuda.so.580.82.07", LIBRARIES + "libcuda.so.580.82.07"),
            bound(LIBRARIES + "libcuda.so.580.82.07", LIBRARIES + "libcuda.so.1"),
            bound(LIBRARIES + "libnvidia-nvvm.so.580.82.07", LIBRARIES + "libnvidia-nvvm.so.4"),
            bound("/opt/smi", "/usr/bin/nvidia-smi"));
    assertThat(plan.notes()).anyMatch(note -> note.contains("by the files of NVIDIA's driver 580"));
  }

  private static String bound(String source, String target) {
    return "<sourcedir='" + source + "'/><targetdir='" + target + "'/><readonly/>";
  }

  @Test
  void appliedAgainNothingIsLeftToDoAndUndoneAllIsAsBefore() throws Exception {
    SortedMap<String, String> first = host.fake.state();
    host.apply(host.plan(one()));
    assertThat(DeviceHost.lines(host.plan(one()))).isEmpty();
    assertThat(host.claims()).containsOnlyKeys(GPU);
    refuses(one().replace("name: lab", "name: second"), GPU + " belongs to the guest 'alice'");
    assertThat(host.undo("lab")).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
    assertThat(host.claims()).isEmpty();
  }

  /** At each moment one of the two ways on is taken, in turn. */
  @Test
  void afterACutOfPowerAtAnyMomentApplyGoesOnAndUndoTakesBack() throws Exception {
    Path state = Files.createDirectories(folder.resolve("state"));
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
        assertThat(host.claims()).as("moment %d", moment).containsOnlyKeys(GPU);
      }
      assertThat(host.undo("lab")).as("moment %d", moment).isEmpty();
      assertThat(host.claims()).as("moment %d", moment).isEmpty();
      moment++;
    }
    assertThat(moment).isGreaterThan(8);
  }

  @Test
  void aGpuThatLeftItsDriverMeanwhileIsNotGiven() throws Exception {
    Plan plan = host.plan(one());
    host.fake.write("/sys/bus/pci/drivers/nvidia/unbind", GPU, Duration.ofSeconds(1));
    assertThatThrownBy(() -> host.apply(plan)).hasMessageContaining("no longer bound to nvidia");
    assertThat(host.claims()).isEmpty();
  }

  @Test
  void theDescriptionOfTheContainerToolkitIsUsedWhereThereIsOne() throws Exception {
    host.fake
        .file("/opt/nvidia/libcuda.so.580.82.07", "")
        .file("/run/nvidia-persistenced/socket", "");
    host.fake.file("/etc/cdi/nvidia.yaml", CDI).file("/dev/dri/card0", "");
    Plan plan = host.plan(lab(guest("alice", PASSED.replace(GPU, OTHER))));
    assertThat(xml(plan))
        .contains("<char>/dev/nvidia1</char>", "<char>/dev/nvidiactl</char>")
        .doesNotContain("/dev/nvidia0", "/dev/dri", "uvm-tools", "persistenced", LIBRARIES);
    assertThat(xml(plan).replaceAll("\\s+", ""))
        .contains(bound("/opt/nvidia/libcuda.so.580.82.07", "/opt/nvidia/libcuda.so.1"));
    assertThat(plan.notes()).anyMatch(note -> note.contains("by /etc/cdi/nvidia.yaml ('1')"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kind: nvidia.com/gpu | kind: vendor.com/gpu | its kind is vendor.com/gpu",
        "cdiVersion: 0.5.0 | cdiVersion: 9.0.0 | version 9.0.0",
        "kind: nvidia.com/gpu | kind: nvidia.com/gpu\\nmore: 1 | unknown key 'more'",
        "deviceNodes: [{path: /dev/nvidia0, | deviceNodes: [{path: /dev/nvidia7, | none of its devices",
        "- path: /dev/nvidiactl | - path: /dev/nvidia1 | gives /dev/nvidia1 to every container",
        "- path: /dev/nvidiactl | - {path: /dev/nvidiactl, hostPath: /dev/sda} | another node of the host",
        "- path: /dev/nvidiactl | - path: /dev/nvidia-modeset | no device node /dev/nvidia-modeset",
        "hostPath: /opt/nvidia/lib | hostPath: /opt/../etc/lib | no plain paths",
        "hostPath: /opt/nvidia/lib | hostPath: /opt/none/lib | this host has no file /opt/none/lib",
        "devices: | devices: [ | not valid YAML",
      })
  void aDescriptionThatDoesNotFitIsRefused(String from, String to, String words) {
    host.fake
        .file("/opt/nvidia/libcuda.so.580.82.07", "")
        .file("/run/nvidia-persistenced/socket", "");
    host.fake.file("/etc/cdi/nvidia.yaml", CDI.replace(from, to.replace("\\n", "\n")));
    refuses(one(), "/etc/cdi/nvidia.yaml cannot be used", words, "nvidia-ctk cdi generate");
  }

  @Test
  void aGpuThatIsNotTheDriversIsRefused() {
    host.fake.add(FakeDevice.gpu("0000:c1:00.0").driver("vfio-pci").group(40));
    refuses(
        one().replace(GPU, "0000:c1:00.0"),
        "is bound to vfio-pci, and a container needs it bound to nvidia");
    refuses(one().replace(GPU, "0000:c2:00.0"), "there is no such device");
    host.fake.add(FakeDevice.at("0000:3b:00.0"));
    refuses(one().replace(GPU, "0000:3b:00.0"), "is neither a GPU of NVIDIA's nor a network");
  }

  @Test
  void aGpuOfAnotherGuestIsRefused() {
    host.foreignGuest("windows", GPU);
    refuses(one(), GPU + " belongs to the guest 'windows'");
  }

  @Test
  void whatIsMissingOnTheHostIsNamed() {
    host.fake.deleteFile("/dev/nvidia-uvm");
    refuses(one(), "no device node /dev/nvidia-uvm", "nvidia-modprobe -c 0 -u");
    host.fake.file("/dev/nvidia-uvm", "").file("/sys/module/nvidia/version", "590.1");
    refuses(one(), "lacks the library of CUDA of its driver, libcuda.so.590.1");
  }

  @Test
  void aDividedGpuIsRefused() {
    host.fake.file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0/access", "");
    refuses(one(), "it is divided into MIG instances");
  }

  /** Its server would divide time and memory that the container takes without asking. */
  @Test
  void aGpuThatTheHostServesIsRefused() {
    String served = "gpus: [{name: a, device: \"gpu:0\"}]\nguests:\n" + guest("bob", "vgpu: a");
    refuses(one().replace("guests:\n", served), "the GPU 'a', which a server of the host divides");
  }

  @Test
  void whatWouldNotFitTogetherIsRefused() {
    refuses(lab(guest("alice", "passthrough: [{mig: MIG-1}]")), "a container gets whole GPUs");
    String owned = "gpus: [{name: a, owner: \"guest:alice\", device: \"" + GPU + "\"}]\nguests:\n";
    refuses(
        lab(guest("alice", "cpus: 1") + guest("bob", "vgpu: a")).replace("guests:\n", owned),
        "a container serves its GPU to no other guest");
    refuses(
        lab(guest("alice", PASSED + ", vgpu: b"))
            .replace("guests:\n", "gpus: [{name: b, device: software}]\nguests:\n"),
        "either a GPU of its own or a vgpu");
    refuses(lab(guest("alice", PASSED) + guest("bob", PASSED)), "claimed already");
  }

  @Test
  void aGpuIsNamedByItsOwnerAsWell() throws Exception {
    String owned = "gpus: [{name: a, owner: \"guest:alice\", device: \"" + GPU + "\"}]\nguests:\n";
    Plan plan = host.plan(lab(guest("alice", "cpus: 1")).replace("guests:\n", owned));
    assertThat(DeviceHost.lines(plan))
        .containsExactly(
            "guest alice: + give it the GPU 'a', 0000:65:00.0, which stays bound to nvidia");
    assertThat(xml(plan)).contains("<char>/dev/nvidia0</char>");
  }

  @Test
  void whatUsesItOnTheHostIsSaid() throws Exception {
    host.fake.process(7, "nvidia-persiste", "/dev/nvidia0");
    assertThat(host.plan(one()).notes())
        .anyMatch(note -> note.contains("in use on the host as well") && note.contains("persiste"));
  }
}
