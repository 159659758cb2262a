package graft.comparison.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.comparison.run.Case;
import graft.comparison.run.Setting;
import graft.comparison.suite.Suite;
import graft.deployment.descriptor.InvalidDescriptorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SuiteReaderTest {
  private static final Path EXAMPLES = Path.of("../examples");

  @TempDir Path folder;

  private SuiteFile read(String text) throws Exception {
    return SuiteReader.read(Files.writeString(folder.resolve("suite.yaml"), text));
  }

  static Stream<String> examples() {
    return Stream.of("compare-demo.yaml", "compare-gpu.yaml");
  }

  @ParameterizedTest
  @MethodSource("examples")
  void readsTheExamples(String name) throws Exception {
    SuiteFile file = SuiteReader.read(EXAMPLES.resolve(name));
    assertThat(file.published()).hasSizeGreaterThan(30).allMatch(p -> !p.source().isEmpty());
  }

  static Stream<Path> applications() throws IOException {
    try (Stream<Path> files = Files.list(EXAMPLES.resolve("applications"))) {
      return files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList().stream();
    }
  }

  /** The suite runs what the recipe of the same name builds, and checks its result. */
  @ParameterizedTest
  @MethodSource("applications")
  void everyApplicationHasARecipe(Path file) throws Exception {
    Suite suite = SuiteReader.read(file).suite();
    String name = file.getFileName().toString().replace(".yaml", "");
    assertThat(EXAMPLES.resolve("applications/recipes/" + name + ".sh")).exists();
    assertThat(suite.workloads())
        .singleElement()
        .satisfies(
            workload -> {
              assertThat(workload.program()).containsExactly("run-" + name);
              assertThat(workload.hostPath()).contains("built/" + name + "/bin");
              assertThat(workload.check()).isPresent();
            });
  }

  @Test
  void multipliesScenariosHypervisorsAndMiddleware() throws Exception {
    Suite suite =
        read("""
                compare: 1
                name: all
                baseline: native
                scenarios:
                  - {name: native}
                  - {name: pf-remote, server: 'tcp://node:7799', token-file: token}
                  - {name: vm-local, descriptor: guests.yaml}
                  - {name: vm-passthrough, descriptor: owner.yaml}
                  - {name: lxc-local, descriptor: containers.yaml}
                  - {name: lxc-passthrough, descriptor: owners.yaml}
                hypervisors: [kvm, xen]
                middleware: [{name: graft}, {name: rcuda, library: /opt/rcuda/lib}]
                workloads:
                  - {name: synthetic, shares: [10, 90], directions: [h2d, d2h]}
                  - {name: multiplex, copies: [1, 3]}
                """)
            .suite();
    assertThat(Setting.of(suite))
        .extracting(Setting::name)
        .containsExactly(
            "native",
            "pf-remote",
            "pf-remote+rcuda",
            "vm-local/kvm",
            "vm-local/kvm+rcuda",
            "vm-local/xen",
            "vm-local/xen+rcuda",
            "vm-passthrough/kvm",
            "vm-passthrough/xen",
            "lxc-local",
            "lxc-local+rcuda",
            "lxc-passthrough");
    assertThat(Case.of(suite))
        .extracting(Case::key)
        .containsExactly(
            "synthetic/10%/h2d/256K-1M",
            "synthetic/10%/d2h/256K-1M",
            "synthetic/90%/h2d/256K-1M",
            "synthetic/90%/d2h/256K-1M",
            "multiplex/x1",
            "multiplex/x3");
  }

  @Test
  void saysEverythingThatIsWrongAtItsPlace() {
    assertThatThrownBy(
            () ->
                read(
                    """
                    compare: 1
                    name: wrong
                    repetitions: 0
                    baseline: nativ
                    scenarios:
                      - {name: native}
                      - {name: vm-local}
                      - {name: elsewhere}
                      - {name: shm, further-nodes: [{server: 'tcp://b:1', token-file: t}]}
                    workloads:
                      - {name: synthetic, shares: [110]}
                      - {name: mine, kind: exec}
                      - {name: run, kind: exec, program: [run], figures: [{name: t, pattern: 't=[0-9]'}]}
                      - {name: launch, check: ok}
                      - {name: wild, kind: exec, program: [run], check: '(['}
                    """))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("suite.yaml:3:14: 'repetitions' is 0")
        .hasMessageContaining("suite.yaml:4:11: 'nativ' is none of the scenarios")
        .hasMessageContaining("suite.yaml:7:5: vm-local needs a descriptor")
        .hasMessageContaining("suite.yaml:8:12: 'elsewhere' names no kind")
        .hasMessageContaining("suite.yaml:9:32: shm takes no further nodes")
        .hasMessageContaining("suite.yaml:11:31: 110 is no share")
        .hasMessageContaining("suite.yaml:12:5: exec needs a program")
        .hasMessageContaining("suite.yaml:14:27: only exec takes a check")
        .hasMessageContaining("suite.yaml:15:53: no regular expression: ")
        .hasMessageContaining("the pattern has no group");
  }

  @Test
  void namesTheFileOfPublishedFiguresThatIsMissing() {
    assertThatThrownBy(
            () ->
                read(
                    """
                    compare: 1
                    name: one
                    baseline: shm
                    scenarios: [{name: shm}]
                    workloads: [{name: launch}]
                    published: [nowhere.yaml]
                    """))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("suite.yaml:6:13: cannot read")
        .hasMessageContaining("nowhere.yaml");
  }
}
