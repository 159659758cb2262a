package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.placement.GpuPlacement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Guests whose GPU is chosen, from the descriptor to the plan's steps. */
class AnyGpuTest {
  private static final String TWO = "{name: gpu0}, {name: gpu1}";

  private final FakeHost host =
      new FakeHost()
          .file("/d/vmlinuz")
          .file("/d/initramfs.cpio")
          .tokenFile("/d/token", "")
          .network("default", true, "192.168.122.1");

  private static String lab(String gpus, String... vgpus) {
    StringBuilder text =
        new StringBuilder("graft: 1\nname: lab\ngpus: [" + gpus + "]\n")
            .append("nodes: [{name: big, server: 'tcp://10.0.0.5:7799', token-file: token}]\n")
            .append("guests:\n");
    for (int i = 0; i < vgpus.length; i++) {
      text.append("  - name: guest-").append(i + 1).append('\n');
      text.append("    kernel: {image: vmlinuz, initramfs: initramfs.cpio}\n");
      text.append("    memory: 64MiB\n    networks: [user]\n");
      text.append("    vgpu: ").append(vgpus[i]).append('\n');
    }
    return text.toString();
  }

  private List<String> chosen(String descriptor) throws InvalidDescriptorException {
    return host.plan(descriptor).choices().stream()
        .map(one -> one.demand().guest() + " " + one.toTree().get("gpu"))
        .toList();
  }

  private List<String> problems(String descriptor) {
    return catchThrowableOfType(UnfitHostException.class, () -> host.plan(descriptor))
        .problems()
        .stream()
        .map(Problem::toString)
        .toList();
  }

  private static List<String> invalid(String descriptor) {
    return catchThrowableOfType(
            InvalidDescriptorException.class,
            () -> DescriptorReader.read(Path.of("/d/lab.yaml"), descriptor))
        .problems()
        .stream()
        .map(Problem::toString)
        .toList();
  }

  @Test
  void aGuestIsPlannedAsIfItsGpuWereNamed() throws Exception {
    Plan any = host.plan(lab(TWO, "{gpu: any, compute: 30}"));
    Plan named = host.plan(lab(TWO, "{gpu: gpu0, compute: 30}"));
    assertThat(any.actions().stream().map(Action::toString))
        .contains("+ choose 'gpu0' for its vGPU")
        .filteredOn(action -> !action.contains("choose"))
        .isEqualTo(named.actions().stream().map(Action::toString).toList());
  }

  @Test
  void theDescriptorsOrderDoesNotMatterAndAppliedGuestsStay() throws Exception {
    String[] vgpus = {"{gpu: any, compute: 30}", "{gpu: any, compute: 60}", "any", "gpu0"};
    assertThat(chosen(lab(TWO, vgpus)))
        .containsExactly("guest-1 gpu0", "guest-2 gpu0", "guest-3 gpu1");
    host.carryOut(host.plan(lab(TWO, vgpus)));
    assertThat(host.plan(lab(TWO, vgpus)).isEmpty()).isTrue();
    // A larger one comes: a new plan would put it first.
    String[] more = {vgpus[0], vgpus[1], vgpus[2], vgpus[3], "{gpu: any, compute: 90}"};
    assertThat(host.plan(lab(TWO, more)).choices())
        .extracting(Object::toString)
        .containsExactly(
            "the vGPU of 'guest-1' is on 'gpu0', where it was before",
            "the vGPU of 'guest-2' is on 'gpu0', where it was before",
            "the vGPU of 'guest-3' is on 'gpu1', where it was before",
            "the vGPU of 'guest-5' is on 'gpu1', the only one that fits (gpu0: 10 percent of its"
                + " time are free, of 90 asked)");
  }

  @Test
  void aGuestThatNoLongerFitsMovesAndThePlanSaysWhy() throws Exception {
    host.carryOut(host.plan(lab(TWO, "{gpu: any, compute: 30}", "{gpu: any, compute: 60}")));
    Plan plan = host.plan(lab(TWO, "{gpu: any, compute: 50}", "{gpu: any, compute: 60}"));
    assertThat(plan.toText())
        .contains(
            "note: the vGPU of 'guest-1' moves from 'gpu0' to 'gpu1', the only one that fits"
                + " (gpu0: 40 percent of its time are free, of 50 asked)")
        .contains("choose 'gpu1' for its vGPU (changed: 'gpu0' → 'gpu1')")
        .doesNotContain("'guest-2' moves");
    host.carryOut(plan);
    assertThat(host.plan(lab(TWO, "{gpu: any, compute: 50}", "{gpu: any, compute: 60}")).isEmpty())
        .isTrue();
  }

  @Test
  void aGuestOfANamedGpuStaysWhereItIsWhenItSaysAny() throws Exception {
    host.carryOut(host.plan(lab("{name: gpu0}", "gpu0")));
    assertThat(host.plan(lab("{name: gpu0}", "any")).actions())
        .singleElement()
        .asString()
        .isEqualTo("+ choose 'gpu0' for its vGPU");
  }

  @Test
  void sharesOfOtherDeploymentsCount() throws Exception {
    host.gpu("NVIDIA H100", "80GiB").gpu("NVIDIA H100", "80GiB");
    String gpus = "{name: gpu0, device: 'gpu:0'}, {name: gpu1, device: 'gpu:1'}";
    host.carryOut(host.plan(lab(gpus, "{gpu: gpu0, compute: 60, memory: 50GiB}"))).isOther("elder");
    assertThat(chosen(lab(gpus, "{gpu: any, compute: 50}"))).containsExactly("guest-1 gpu1");
    assertThat(chosen(lab(gpus, "{gpu: any, compute: 10, memory: 40GiB}")))
        .containsExactly("guest-1 gpu1");
    assertThat(chosen(lab(gpus, "{gpu: any, compute: 10, memory: 20GiB}")))
        .containsExactly("guest-1 gpu0");
  }

  @Test
  void theDriverSaysChipAndMemoryAndTheDescriptorThoseOfNodes() throws Exception {
    host.gpu("NVIDIA A100-SXM4-40GB", "40GiB").gpu("NVIDIA H100 80GB HBM3", "80GiB");
    String gpus =
        "{name: far, owner: 'node:big', device: gpu, chip: B200}, {name: gpu0, device: 'gpu:0'},"
            + " {name: gpu1, device: 'gpu:1'}";
    assertThat(
            chosen(
                lab(
                    gpus,
                    "{gpu: any, chip: H100}",
                    "{gpu: any, memory: 48GiB}",
                    "{gpu: any, chip: B200}",
                    "{gpu: any, node: big}")))
        .containsExactly("guest-1 gpu1", "guest-2 gpu1", "guest-3 far", "guest-4 far");
  }

  @Test
  void aGuestThatNoGpuFitsIsRefusedAtItsPlaceWithEachGpusReason() {
    assertThat(
            problems(
                lab(
                    TWO + ", {name: far, owner: 'node:big'}",
                    "{gpu: any, compute: 80}",
                    "{gpu: any, compute: 70}",
                    "{gpu: any, memory: 2GiB}",
                    "{gpu: any, compute: 40}")))
        .containsExactly(
            "/d/lab.yaml:20:11: no GPU fits the guest 'guest-3': gpu0: 1GiB of its memory are free,"
                + " of 2GiB asked; gpu1: 1GiB of its memory are free, of 2GiB asked; far: the server"
                + " of the node big says what a guest gets, and not this descriptor (ask for less,"
                + " or name GPUs for some guests)",
            "/d/lab.yaml:25:11: no GPU fits the guest 'guest-4': gpu0: 20 percent of its time are"
                + " free, of 40 asked; gpu1: 30 percent of its time are free, of 40 asked; far: the"
                + " server of the node big says what a guest gets, and not this descriptor (ask for"
                + " less, or name GPUs for some guests)");
  }

  @Test
  void aListHasDifferentGpus() throws Exception {
    String three = TWO + ", {name: gpu2}";
    assertThat(chosen(lab(three, "[any, gpu0, {gpu: any, region: 64MiB}]")))
        .containsExactly("guest-1 gpu1", "guest-1 gpu2");
    assertThat(problems(lab(TWO, "[any, gpu0, any]")))
        .singleElement()
        .asString()
        .contains(
            "no GPU fits the guest 'guest-1': gpu0: the guest uses it already; gpu1: the guest uses"
                + " it already");
  }

  @Test
  void whatIsThereIsLookedAtByTheGpusThatWereChosen() throws Exception {
    String descriptor = lab(TWO + ", {name: gpu2}", "[gpu2, any]", "[any, gpu0]");
    PlanInput before = host.input(descriptor);
    assertThat(before.file().descriptor().choosesGpus()).isTrue();
    host.carryOut(host.plan(descriptor));
    PlanInput after = host.input(descriptor);
    assertThat(GpuPlacement.recorded(after.file(), after.journal()).descriptor().guests())
        .extracting(guest -> guest.vgpus().stream().map(vgpu -> vgpu.gpu().text()).toList())
        .containsExactly(List.of("gpu2", "gpu1"), List.of("gpu1", "gpu0"));
  }

  @Test
  void keysThatDoNotFitAreRefused() {
    assertThat(
            invalid(
                lab(
                    "{name: any}, {name: gpu0}",
                    "{gpu: gpu0, chip: H100}",
                    "{gpu: gpu0, node: big}",
                    "{gpu: any, node: bug}",
                    "{gpu: any, chip: ' '}")))
        .satisfiesExactly(
            one -> assertThat(one).contains("'any' stands for a GPU that plan chooses"),
            one -> assertThat(one).contains("'chip' says which GPU may be chosen"),
            one -> assertThat(one).contains("'node' says which GPU may be chosen"),
            one -> assertThat(one).contains("there is no node named 'bug'").contains("big"),
            one -> assertThat(one).contains("the chip's name is empty"));
  }

  @Test
  void theJsonHasTheReasons() throws Exception {
    assertThat(host.plan(lab(TWO, "{gpu: any, compute: 30}")).toTree().get("placements"))
        .isEqualTo(
            List.of(
                Map.of(
                    "guest",
                    "guest-1",
                    "number",
                    0,
                    "gpu",
                    "gpu0",
                    "why",
                    "the fullest that fits: 70 percent of its time and 1GiB of its memory stay"
                        + " free",
                    "others",
                    Map.of("gpu1", "fits too"))));
  }

  @Test
  void theExampleFillsBothGpus() throws Exception {
    for (String name : List.of("guest/vmlinuz", "guest/initramfs.cpio", "vectorAdd")) {
      host.file("/d/built/" + name);
    }
    String example = Files.readString(Path.of("../../examples/any-gpu.yaml"));
    assertThat(chosen(example))
        .containsExactly("any-1 gpu0", "any-2 gpu1", "any-3 gpu0", "any-4 gpu1");
  }
}
