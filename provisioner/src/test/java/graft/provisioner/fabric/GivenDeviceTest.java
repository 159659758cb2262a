package graft.provisioner.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.provisioner.GraftException;
import graft.provisioner.descriptor.DescriptorReader;
import graft.provisioner.descriptor.Guest;
import graft.provisioner.journal.JournalState;
import graft.provisioner.plan.Action;
import graft.provisioner.plan.Plan;
import graft.provisioner.step.Step;
import graft.provisioner.values.Name;
import graft.sriov.RamTempDirFactory;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which steps give a guest the device that somebody names. */
class GivenDeviceTest {
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
  void aSetUpThatIsThere() throws Exception {
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
    assertThat(GivenDevice.parse("ib0").stepsOf("bob", steps, journal)).isEmpty();
  }

  @Test
  void whatTheGuestIsDescribedWithIsNotAddedAgain() {
    assertThat(GivenDevice.parse("ib0:2").addTo(alice)).isEqualTo(alice);
    assertThat(GivenDevice.parse("0000:65:00.0").addTo(alice)).isEqualTo(alice);
    assertThat(GivenDevice.parse("ib0:1").addTo(alice).vfs()).hasSize(3);
    assertThat(GivenDevice.parse("ib0").addTo(alice).vfs()).as("one more").hasSize(3);
    assertThat(GivenDevice.parse("0000:66:00.0").addTo(alice).passthrough()).hasSize(2);
  }

  @Test
  void whatIsNoDeviceIsRefused() {
    assertThatThrownBy(() -> GivenDevice.parse("65:00"))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("'65:00' is no device");
  }

  private List<String> giving(String device) {
    return GivenDevice.parse(device).stepsOf("alice", steps, journal).stream()
        .map(Step::name)
        .toList();
  }
}
