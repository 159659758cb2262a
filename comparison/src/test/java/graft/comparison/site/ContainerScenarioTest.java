package graft.comparison.site;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.comparison.run.NotPossibleException;
import graft.comparison.run.Setting;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A scenario whose descriptor does not fit it is not possible, with the reason; nothing is made.
 */
class ContainerScenarioTest {
  @TempDir Path folder;

  private void choose(String kind, String descriptor) throws Exception {
    Files.writeString(folder.resolve("containers.yaml"), descriptor);
    Path file = folder.resolve("suite.yaml");
    Files.writeString(
        file,
        """
        compare: 1
        name: one
        device: software
        baseline: %1$s
        scenarios: [{name: %1$s, descriptor: containers.yaml}]
        hypervisors: [kvm, xen]
        workloads: [{name: launch}]
        """
            .formatted(kind));
    SuiteFile suite = SuiteReader.read(file);
    CompareSite.descriptor(suite, Setting.of(suite.suite()).get(0));
  }

  private static String descriptor(String hypervisor, String guest) {
    return """
        graft: 1
        hypervisor: %s
        gpus: [{name: g, device: software}]
        guests: [{name: a, vgpu: g, %s}]
        """
        .formatted(hypervisor, guest);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lxc-passthrough | lxc | root: r  | no container with a GPU of its own",
        "lxc-passthrough | kvm | image: i | describes no containers",
        "lxc-local       | kvm | image: i | describes no containers",
        "vm-passthrough  | lxc | root: r  | write kind: lxc-local or lxc-passthrough",
        "lxc-local       | lxc | image: i | containers.yaml:4:"
      })
  void isNotPossible(String kind, String hypervisor, String guest, String why) {
    assertThatThrownBy(() -> choose(kind, descriptor(hypervisor, guest)))
        .isInstanceOf(NotPossibleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aFileThatIsNoDescriptorIsAReasonToo() {
    assertThatThrownBy(() -> choose("lxc-passthrough", "graft: 1\nguests: [{}]\n"))
        .isInstanceOf(NotPossibleException.class)
        .hasMessageContaining("containers.yaml:2:");
  }
}
