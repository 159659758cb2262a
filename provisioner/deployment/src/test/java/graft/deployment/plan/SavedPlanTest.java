package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.deployment.PlanDiff;
import graft.deployment.SavedPlan;
import graft.deployment.StalePlanException;
import graft.deployment.journal.JournalState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A plan in a file is what somebody has agreed to: it is carried out as it is or not at all. */
class SavedPlanTest {
  private static final Instant NOW = Instant.parse("2026-11-25T19:00:00Z");
  private static final String LAB =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: 512MiB
          vgpu: {gpu: gpu0, memory: 1GiB}
      """;

  @TempDir Path folder;
  private final FakeHost host = new FakeHost();
  private Path file;

  @BeforeEach
  void files() {
    file = folder.resolve("lab.plan");
    host.file("/d/vmlinuz").file("/d/initramfs.cpio");
  }

  private SavedPlan save(String descriptor) throws Exception {
    PlanInput input = host.input(descriptor);
    SavedPlan plan =
        SavedPlan.of(Planner.plan(input), input.journal(), Path.of("/d/lab.yaml"), NOW);
    plan.write(file);
    return plan;
  }

  private void require(String descriptor) throws Exception {
    PlanInput input = host.input(descriptor);
    SavedPlan.read(file).require(Planner.plan(input), input.journal());
  }

  @Test
  void whatIsReadIsWhatWasWritten() throws Exception {
    SavedPlan saved = save(LAB);
    assertThat(SavedPlan.read(file)).isEqualTo(saved);
    assertThat(SavedPlan.isOne(file)).isTrue();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThatCode(() -> require(LAB)).doesNotThrowAnyException();
  }

  @Test
  void theFileHoldsNoSettings() throws Exception {
    host.carryOut(host.plan(LAB));
    save(LAB.replace("512MiB", "768MiB"));
    assertThat(file).content().doesNotContain("<domain", "vmlinuz");
  }

  @Test
  void aHostThatHasMovedOnIsRefusedWithWhatDiffers() throws Exception {
    host.carryOut(host.plan(LAB));
    save(LAB);
    host.off("alice");
    assertThatThrownBy(() -> require(LAB))
        .isInstanceOf(StalePlanException.class)
        .hasMessageContaining("nothing was changed:")
        .hasMessageContaining("now guest alice: + start it (it is shut off)")
        .hasMessageContaining("look at graft plan /d/lab.yaml");
  }

  @Test
  void aStepWithOtherSettingsIsAnotherStepEvenIfItReadsTheSame() throws Exception {
    save(LAB);
    assertThatThrownBy(() -> require(LAB.replace("512MiB", "768MiB")))
        .isInstanceOf(StalePlanException.class)
        .hasMessageContaining("no longer guest alice: + define it")
        .hasMessageContaining("now guest alice: + define it");
    host.touched("/d/initramfs.cpio");
    assertThatThrownBy(() -> require(LAB))
        .as("the file of the host was changed")
        .isInstanceOf(StalePlanException.class);
  }

  @Test
  void anotherApplyInBetweenIsRefused() throws Exception {
    host.carryOut(host.plan(LAB));
    save(LAB.replace("512MiB", "768MiB"));
    host.carryOut(host.plan(LAB.replace("512MiB", "600MiB"))).carryOut(host.plan(LAB));
    assertThatThrownBy(() -> require(LAB.replace("512MiB", "768MiB")))
        .isInstanceOf(StalePlanException.class)
        .hasMessageContaining("the deployment was applied since");
  }

  @Test
  void nothingElseIsReplacedByAPlan() throws Exception {
    Files.writeString(file, LAB);
    assertThatThrownBy(() -> save(LAB)).hasMessageContaining("is no saved plan");
    assertThat(file).hasContent(LAB);
    Files.delete(file);
    Files.createSymbolicLink(file, folder.resolve("other"));
    assertThatThrownBy(() -> save(LAB)).hasMessageContaining("is no saved plan");
    Files.delete(file);
    save(LAB);
    save(LAB);
  }

  @Test
  void aFileThatOthersMayWriteIsRefused() throws Exception {
    save(LAB);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw--w----"));
    assertThatThrownBy(() -> SavedPlan.read(file)).hasMessageContaining("other users can write");
  }

  @Test
  void aFileThatIsCutOffAnywhereIsRefused() throws Exception {
    save(LAB);
    String whole = Files.readString(file);
    for (int length = 0; length < whole.length() - 2; length += 7) {
      Files.writeString(file, whole.substring(0, length));
      assertThatThrownBy(() -> SavedPlan.read(file))
          .as("%s bytes", length)
          .isInstanceOf(GraftException.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"graftPlan\" : 1|\"graftPlan\" : 2|its version is not 1",
        "\"graftPlan\" : 1|\"graftPlan\" : \"1\"|its version is not 1",
        "\"run\" : 0|\"run\" : \"0\"|a field has another type",
        "\"run\" : 0|\"run\" : 99999999999999999999|a field has another type",
        "\"descriptor\" : \"/d/lab.yaml\"|\"descriptor\" : \"lab.yaml\"|no absolute path",
        "\"descriptor\" : \"/d/lab.yaml\"|\"descriptor\" : \"/d\\u0000\"|is not readable",
        "\"deployment\" : \"lab\",||it has no 'deployment'",
        "2026-11-25T19:00:00Z|yesterday|its time is none",
        "\"actions\" : [|\"actions\" : [ 1,|a field has another type",
        "\"actions\" : [|\"actions\" : [ {},|it has no 'line'",
        "\"actions\" : [|\"actions\" : [ {\"line\": \"x\", \"checksum\": []},|another type"
      })
  void aFileThatWasMadeUpIsRefused(String from, String to, String why) throws Exception {
    save(LAB);
    String text = Files.readString(file);
    String changed = text.replace(from, to == null ? "" : to);
    assertThat(changed).isNotEqualTo(text);
    Files.writeString(file, changed);
    assertThatThrownBy(() -> SavedPlan.read(file))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining(why);
  }

  @Test
  void stepsThatAreMadeUpAreNeverDone() throws Exception {
    save(LAB);
    String text = Files.readString(file);
    Files.writeString(
        file,
        text.replace(
            "\"actions\" : [",
            "\"actions\" : [ {\"line\": \"guest eve: + start it\", \"checksum\": \"0\","
                + " \"step\": {\"kind\": \"start-guest\"}},"));
    assertThatThrownBy(() -> require(LAB))
        .isInstanceOf(StalePlanException.class)
        .hasMessageContaining("no longer guest eve: + start it");
  }

  @Test
  void aDescriptorIsNoSavedPlan() throws Exception {
    for (String text : List.of(LAB, "{graft: 1}", "{\"graft\": 1}", "", "graftPlan: 1")) {
      Files.writeString(file, text);
      assertThat(SavedPlan.isOne(file)).as(text).isFalse();
    }
    assertThat(SavedPlan.isOne(folder)).isFalse();
  }

  private PlanDiff diff(String descriptor) throws Exception {
    PlanInput input = host.input(descriptor);
    return new PlanDiff(Planner.plan(input), input.journal());
  }

  @Test
  void aDifferenceHasTheOldValueAndTheNewOne() throws Exception {
    host.carryOut(host.plan(LAB));
    assertThat(diff(LAB).isEmpty()).isTrue();
    assertThat(diff(LAB).toText()).isEqualTo("lab: no difference\n");
    PlanDiff diff = diff(LAB.replace("512MiB", "768MiB"));
    assertThat(diff.objects()).hasSize(1);
    assertThat(diff.objects().get(0).change()).isEqualTo("change");
    assertThat(diff.toText())
        .startsWith("lab on qemu:///system\n~ guest alice: restarts\n")
        .contains("512MiB", "768MiB")
        .contains(
            "      - <memory unit='KiB'>524288</memory>\n",
            "      + <memory unit='KiB'>786432</memory>\n")
        .contains("    again: start it")
        .doesNotContain("<name>alice</name>");
  }

  @Test
  void whatComesAndWhatGoesIsNamed() throws Exception {
    host.carryOut(host.plan(LAB));
    String bob = LAB.substring(LAB.indexOf("  - name: alice")).replace("alice", "bob");
    assertThat(diff(LAB + bob).objects())
        .extracting(PlanDiff.ChangedObject::name, PlanDiff.ChangedObject::change)
        .containsExactly(org.assertj.core.api.Assertions.tuple("guest bob", "add"));
    host.carryOut(host.plan(LAB + bob));
    assertThat(diff(LAB).objects())
        .extracting(PlanDiff.ChangedObject::name, PlanDiff.ChangedObject::change)
        .containsExactly(org.assertj.core.api.Assertions.tuple("guest bob", "remove"));
    assertThat(((Map<?, ?>) diff(LAB).toTree()).keySet())
        .hasToString("[deployment, uri, objects, deletedData]");
  }

  @Test
  void nothingAppliedIsAllNew() throws Exception {
    assertThat(host.input(LAB).journal().entries()).isEqualTo(JournalState.EMPTY.entries());
    assertThat(diff(LAB).objects()).extracting(PlanDiff.ChangedObject::change).containsOnly("add");
  }
}
