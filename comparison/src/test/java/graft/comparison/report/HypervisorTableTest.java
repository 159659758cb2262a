package graft.comparison.report;

import static org.assertj.core.api.Assertions.assertThat;

import graft.comparison.Suites;
import graft.comparison.results.Measurement;
import graft.comparison.run.Entry;
import graft.comparison.run.Noise;
import graft.comparison.run.Result;
import graft.comparison.suite.Suite;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HypervisorTableTest {
  private static final Noise QUIET = new Noise(0, 0.1, 2000, 0, 0, 0);

  private final List<Entry> log =
      new ArrayList<>(List.of(new Entry.Begin("d", "test", 7, "2026-01-01T00:00:00Z", Map.of())));

  private void took(String setting, double milliseconds) {
    Measurement figure = Measurement.of("walsh", 0, "ms", milliseconds);
    log.add(new Entry.Run(1, setting, "kernels", Result.OK, "", 1, List.of(figure), QUIET));
  }

  private List<String> lines(Suite suite) {
    return HypervisorTable.of(new Findings(suite, log)).lines();
  }

  @Test
  void aSuiteOfOneMachineHasARowForEachWayAndAColumnForEachHypervisor() {
    Suite suite =
        Suites.of(
            List.of("native", "shm", "vm-passthrough", "lxc-passthrough", "vm-local", "lxc-local"),
            List.of("kernels"),
            1);
    took("native", 10);
    took("shm", 11);
    took("vm-passthrough/kvm", 10.1);
    log.add(new Entry.Impossible("vm-passthrough/xen", "this is not Xen's dom0"));
    log.add(new Entry.Impossible("lxc-passthrough", "no device nodes"));
    took("vm-local/kvm", 30);
    log.add(new Entry.Impossible("vm-local/xen", "this is not Xen's dom0"));
    took("lxc-local", 10.2);
    assertThat(lines(Suites.under(suite, "kvm", "xen")))
        .containsExactly(
            "| GPU | workload | bare | kvm | xen | lxc |",
            "|---|---|---|---|---|---|",
            "| its own GPU | kernels | baseline | +1.0% | not possible: vm-passthrough/xen"
                + " | not possible: lxc-passthrough |",
            "| vGPU of this host | kernels | +10% | +200% | not possible: vm-local/xen | +2.0% |");
  }

  @Test
  void whatASuiteLeavesOutIsNotLeftBlank() {
    Suite suite = Suites.of(List.of("native", "vm-local", "unix", "shm"), List.of("kernels"), 1);
    took("native", 10);
    took("shm", 12);
    took("unix", 20);
    log.add(new Entry.Run(1, "vm-local", "kernels", Result.FAILED, "", 1, List.of(), QUIET));
    assertThat(lines(suite))
        .endsWith(
            "| its own GPU | kernels | baseline | not in the suite | not in the suite"
                + " | not in the suite | not in the suite |",
            "| vGPU of this host | kernels | unix +100%; shm +20% | not in the suite"
                + " | not in the suite | not in the suite | no figures |");
  }

  @Test
  void figuresWithoutABaselineAreNotCompared() {
    Suite suite = Suites.of(List.of("native", "lxc-local"), List.of("kernels"), 1);
    log.add(new Entry.Impossible("native", "no GPU"));
    took("lxc-local", 10);
    assertThat(lines(suite))
        .last()
        .asString()
        .endsWith("| not in the suite | baseline has no figures |");
  }

  @Test
  void aSuiteWithoutGuestsHasNoTable() {
    took("native", 10);
    assertThat(lines(Suites.of(List.of("native", "shm"), List.of("kernels"), 1))).isEmpty();
  }
}
