package graft.comparison.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.comparison.run.NotPossibleException;
import graft.comparison.run.Setting;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The name esxi labels guests that exist already, and the others choose what runs Graft's own. */
class EsxiLabelTest {
  private static final String EXISTING = "existing: {ssh: root@h}";

  @TempDir Path folder;

  private SuiteFile suite(String hypervisor, String guest) throws Exception {
    Files.writeString(
        folder.resolve("guests.yaml"),
        """
        graft: 1
        gpus: [{name: g, device: software}]
        guests: [{name: a, vgpu: g, %s}]
        """
            .formatted(guest));
    Path file = folder.resolve("suite.yaml");
    Files.writeString(
        file,
        """
        compare: 1
        name: one
        device: software
        baseline: vm-local
        scenarios: [{name: vm-local, descriptor: guests.yaml}]
        hypervisors: [%s]
        workloads: [{name: launch}]
        """
            .formatted(hypervisor));
    return SuiteReader.read(file);
  }

  @Test
  void itNamesTheSetting() throws Exception {
    assertThat(Setting.of(suite("esxi", EXISTING).suite()))
        .extracting(Setting::name)
        .containsExactly("vm-local/esxi");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "esxi | image: i                 | the label is for guests that exist already",
        "kvm  | existing: {ssh: root@h}  | and Graft does not choose their hypervisor",
        "xen  | existing: {ssh: root@h}  | and Graft does not choose their hypervisor"
      })
  void anythingElseIsNotPossible(String hypervisor, String guest, String why) throws Exception {
    suite(hypervisor, guest);
    Descriptor descriptor = DescriptorReader.read(folder.resolve("guests.yaml")).descriptor();
    assertThatThrownBy(() -> CompareSite.exist(descriptor, hypervisor))
        .isInstanceOf(NotPossibleException.class)
        .hasMessageContaining(why);
  }

  @Test
  void aFittingNameIsTaken() throws Exception {
    suite("esxi", EXISTING);
    Descriptor existing = DescriptorReader.read(folder.resolve("guests.yaml")).descriptor();
    assertThat(CompareSite.exist(existing, "esxi")).isTrue();
    suite("kvm", "image: i");
    Descriptor own = DescriptorReader.read(folder.resolve("guests.yaml")).descriptor();
    assertThat(CompareSite.exist(own, "kvm")).isFalse();
  }
}
