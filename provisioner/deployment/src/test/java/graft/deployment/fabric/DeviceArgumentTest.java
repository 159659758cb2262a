package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.step.Step;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which steps give a guest the device that somebody names. */
class DeviceArgumentTest {
  private static final String DESCRIPTOR =
      """
      graft: 1
      name: lab
      fabric: {persistent: false, adapters: [{name: ib0, device: mlx5_3b_0, vfs: 3}]}
      guests:
        - name: alice
          image: debian.qcow2
          memory: 1GiB
          setup: none
          vfs: [{adapter: ib0, index: 0}, {adapter: ib0, index: 2}]
          passthrough: [{pci: "0000:65:00.0"}]
      """;

  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private List<Step> steps;
  private JournalState journal;
  private Guest alice;

  @BeforeEach
  void aDeploymentThatIsThere() throws Exception {
    DeviceHost host = new DeviceHost(folder);
    host.fake
        .node(0, "0-7", 65536)
        .add(FakeDevice.mlx5("0000:3b:00.0", 8))
        .add(FakeDevice.gpu("0000:65:00.0").group(20))
        .add(FakeDevice.at("0000:65:00.1").ids(0x10de, 0x10f0).pciClass(0x040300).group(20));
    Plan plan = host.plan(DESCRIPTOR);
    host.apply(plan);
    steps = plan.actions().stream().map(Action::step).toList();
    journal = host.journal(new Name("lab"));
    alice =
        DescriptorReader.read(Path.of("/d/lab.yaml"), DESCRIPTOR)
            .descriptor()
            .guest(new Name("alice"))
            .orElseThrow();
  }

  @Test
  void aGpuGoesWithAllFunctionsOfItsSlot() {
    assertThat(giving("0000:65:00.0"))
        .containsExactly(
            "take-0000:65:00.0", "take-0000:65:00.1", "attach-0000:65:00.0", "attach-0000:65:00.1");
  }

  @Test
  void aFunctionGoesAlone() {
    assertThat(giving("ib0:2")).containsExactly("take-0000:3b:00.3", "attach-0000:3b:00.3");
    assertThat(giving("ib0:1")).isEmpty();
  }

  @Test
  void anAdapterStandsForAllItsFunctions() {
    assertThat(giving("ib0"))
        .containsExactly(
            "take-0000:3b:00.1", "take-0000:3b:00.3", "attach-0000:3b:00.1", "attach-0000:3b:00.3");
  }

  @Test
  void nobodyElsesStepsAreMeant() {
    assertThat(DeviceArgument.parse("ib0").stepsOf("bob", steps, journal)).isEmpty();
  }

  @Test
  void whatTheGuestIsDescribedWithIsNotAddedAgain() {
    assertThat(DeviceArgument.parse("ib0:2").addTo(alice)).isEqualTo(alice);
    assertThat(DeviceArgument.parse("0000:65:00.0").addTo(alice)).isEqualTo(alice);
    assertThat(DeviceArgument.parse("ib0:1").addTo(alice).vfs()).hasSize(3);
    assertThat(DeviceArgument.parse("ib0").addTo(alice).vfs()).as("one more").hasSize(3);
    assertThat(DeviceArgument.parse("0000:66:00.0").addTo(alice).passthrough()).hasSize(2);
  }

  @Test
  void aFunctionIsGivenOnlyByAnAdapterThatWasApplied() throws Exception {
    DescriptorFile file =
        DescriptorReader.read(
            Path.of("/d/lab.yaml"),
            DESCRIPTOR.replace(
                "vfs: 3}]",
                "vfs: 3}, {name: ib1, device: mlx5_3c_0, vfs: 2}, {name: ib2, device: mlx5_3d_0}]"));
    DeviceArgument.parse("ib0").requireFunctions(file, journal);
    DeviceArgument.parse("0000:66:00.0").requireFunctions(file, journal);
    assertThat(refused("ib1", file))
        .isEqualTo(
            "the virtual functions of the adapter 'ib1' have not been made yet: graft apply"
                + " /d/lab.yaml makes them");
    assertThat(refused("ib2:0", file))
        .isEqualTo(
            "the adapter 'ib2' has no virtual functions in /d/lab.yaml: write their number there (vfs), then run graft apply");
    assertThat(refused("ib3", file))
        .isEqualTo("/d/lab.yaml has no adapter 'ib3': it has [ib0, ib1, ib2]");
  }

  @Test
  void whatIsNoDeviceIsRefused() {
    assertThatThrownBy(() -> DeviceArgument.parse("65:00"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("'65:00' is not a device");
  }

  private String refused(String device, DescriptorFile file) {
    return catchThrowable(() -> DeviceArgument.parse(device).requireFunctions(file, journal))
        .getMessage()
        .replace("\n ", ":");
  }

  private List<String> giving(String device) {
    return DeviceArgument.parse(device).stepsOf("alice", steps, journal).stream()
        .map(Step::name)
        .toList();
  }
}
