package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.deployment.step.host.StartServer;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Shares of GPUs from the descriptor to the server's tokens file, and the ones that are refused.
 */
class SharesTest {
  private final FakeHost host =
      new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio").file("/d/program");

  /** A descriptor with guests that have such vGPUs: the first is {@code guest-1}. */
  private static String lab(String device, String... vgpus) {
    StringBuilder text =
        new StringBuilder("graft: 1\nname: lab\ngpus: [{name: gpu0, device: ")
            .append(device)
            .append("}]\nguests:\n");
    for (int i = 0; i < vgpus.length; i++) {
      text.append("  - name: guest-").append(i + 1).append('\n');
      text.append("    kernel: {image: vmlinuz, initramfs: initramfs.cpio}\n");
      text.append("    vgpu: ").append(vgpus[i]).append('\n');
    }
    return text.toString();
  }

  private List<String> grants(String descriptor) throws Exception {
    return host.plan(descriptor).actions().stream()
        .map(Action::toString)
        .filter(action -> action.contains("grant it access"))
        .map(action -> action.replaceAll("region=\\S+ ", ""))
        .toList();
  }

  private List<String> problems(String descriptor) {
    return catchThrowableOfType(UnfitHostException.class, () -> host.plan(descriptor))
        .problems()
        .stream()
        .map(Problem::toString)
        .toList();
  }

  @Test
  void theServersTokensFileGetsTheShares() throws Exception {
    assertThat(
            grants(
                lab(
                    "software",
                    "{gpu: gpu0, compute: 60, priority: high}",
                    "{gpu: gpu0, class: burstable}",
                    "{gpu: gpu0, class: best-effort}")))
        .satisfiesExactlyInAnyOrder(
            line -> assertThat(line).contains("class=guaranteed compute=60 priority=high"),
            line -> assertThat(line).contains("class=burstable compute=10"),
            line -> assertThat(line).contains("class=best-effort)"));
  }

  @Test
  void anotherShareChangesTheGrantAlone() throws Exception {
    String before = lab("software", "{gpu: gpu0, compute: 60}");
    host.carryOut(host.plan(before));
    assertThat(host.plan(before.replace("60", "40")).actions())
        .singleElement()
        .asString()
        .contains("class=guaranteed compute=40")
        .contains("(changed: compute=60 → 40)");
  }

  @Test
  void guaranteedSharesAbove100AreRefused() {
    assertThat(
            problems(
                lab(
                    "software",
                    "{gpu: gpu0, compute: 60}",
                    "{gpu: gpu0, compute: 50, class: burstable}",
                    "{gpu: gpu0, compute: 41}")))
        .containsExactly(
            "/d/lab.yaml:13:32: the guaranteed shares of 'gpu0' are more than 100 percent:"
                + " guest-1 60, guest-3 41 (lower one, or write 'class: burstable')");
  }

  @Test
  void guaranteedSharesOfOtherDeploymentsOfTheGpuCount() throws Exception {
    host.carryOut(
            host.plan(lab("software", "{gpu: gpu0, compute: 60}", "{gpu: gpu0, class: burstable}")))
        .isOther("elder");
    assertThat(problems(lab("software", "gpu0", "{gpu: gpu0, compute: 41}")))
        .singleElement()
        .asString()
        .contains("the guaranteed shares of 'gpu0' are more than 100 percent:")
        .contains("guest-1 of elder 60, guest-2 41");
    assertThat(problems(lab("gpu", "{gpu: gpu0, compute: 41}")))
        .noneMatch(problem -> problem.contains("guaranteed")); // another device
    assertThat(grants(lab("software", "{gpu: gpu0, compute: 40}"))).hasSize(1);
  }

  @Test
  void anExclusiveGpuIsUsedByNoOtherDeployment() throws Exception {
    host.carryOut(host.plan(lab("software", "gpu0"))).isOther("elder");
    assertThat(problems(lab("software", "{gpu: gpu0, exclusive: true}")))
        .singleElement()
        .asString()
        .contains("the guest is to have 'gpu0' to itself, and 'guest-1 of elder' uses it too");
  }

  @Test
  void partsThatDoNotAgreeAreRefused() {
    assertThat(
            problems(
                lab(
                    "software",
                    "{gpu: gpu0, class: best-effort, compute: 5}",
                    "{gpu: gpu0, class: guaranteed}")))
        .satisfiesExactly(
            first -> assertThat(first).contains("a best-effort guest has no percentage"),
            second -> assertThat(second).contains("a guaranteed guest needs compute"));
  }

  @Test
  void aGpuCanBeShared() {
    assertThat(problems(lab("gpu", "{gpu: gpu0, compute: 60}")))
        .noneMatch(problem -> problem.contains("compute"));
  }

  private static List<String> options(Plan plan) {
    return plan.actions().stream()
        .map(Action::step)
        .filter(StartServer.class::isInstance)
        .map(step -> ((StartServer) step).options())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void denseGuestsShareTheGpuByMps() throws Exception {
    host.gpu("NVIDIA H200", "141GiB");
    Plan plan = host.plan(lab("gpu", "{gpu: gpu0, class: dense}", "{gpu: gpu0, class: dense}"));
    assertThat(options(plan)).containsExactly("--mps");
    assertThat(plan.actions().stream().map(Action::toString).toList())
        .anyMatch(action -> action.contains("class=dense"));
    assertThat(plan.warnings())
        .contains(
            "the dense guests of 'gpu0' (guest-1, guest-2) have to trust each other: their programs"
                + " run as one user of this host, and a fault of one on the GPU ends the programs of"
                + " all");
    assertThat(options(host.plan(lab("gpu", "gpu0")))).isEmpty();
  }

  @Test
  void denseGuestsHaveTheGpuForThemselves() throws Exception {
    host.gpu("NVIDIA H200", "141GiB");
    assertThat(problems(lab("gpu", "{gpu: gpu0, class: dense}", "gpu0", "{gpu: gpu0, compute: 5}")))
        .singleElement()
        .asString()
        .contains("with class dense all guests of 'gpu0' have to be dense")
        .contains("'guest-2', 'guest-3' uses it too");
    assertThat(problems(lab("software", "{gpu: gpu0, class: dense}")))
        .singleElement()
        .asString()
        .contains("'gpu0' is the software device, and class dense is NVIDIA's MPS");
    assertThat(problems(lab("gpu", "{gpu: gpu0, class: dense, compute: 20}")))
        .singleElement()
        .asString()
        .contains("a dense guest has no percentage of compute and no priority");
    host.carryOut(host.plan(lab("gpu", "{gpu: gpu0, class: dense}"))).isOther("elder");
    for (String mine : List.of("gpu0", "{gpu: gpu0, class: dense}")) {
      assertThat(problems(lab("gpu", mine)))
          .singleElement()
          .asString()
          .contains("'gpu0'", "'guest-1 of elder'");
    }
  }

  @Test
  void anExclusiveGpuHasOneGuest() throws Exception {
    assertThat(grants(lab("software", "{gpu: gpu0, exclusive: true}"))).hasSize(1);
    assertThat(problems(lab("software", "{gpu: gpu0, exclusive: true}", "gpu0")))
        .singleElement()
        .asString()
        .contains("the guest is to have 'gpu0' to itself, and 'guest-2' uses it too");
  }
}
