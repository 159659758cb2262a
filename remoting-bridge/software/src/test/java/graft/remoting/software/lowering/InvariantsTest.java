package graft.remoting.software.lowering;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.software.TestDevice;
import graft.remoting.software.analysis.Regions;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.PtxParser;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds of the intermediate form of every program, shown on what nvcc made of ours. */
final class InvariantsTest {
  private static List<Program> programs(String resource) {
    PtxModule module = PtxParser.parse(TestDevice.resource("programs/" + resource + ".ptx"));
    SyncAnalysis sync = new SyncAnalysis(module);
    return module.functions().values().stream()
        .filter(Function::entry)
        .map(f -> Program.lower(module, sync, f))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"language", "warp_primitives", "math_functions", "clusters", "simple_texture"})
  void valuesHaveTheKindOfTheRegisterTheyGoTo(String resource) {
    for (FunctionIr f : functions(resource)) {
      for (BasicBlock b : f.blocks()) {
        b.nodes().forEach(n -> checkKinds(f, n));
      }
    }
  }

  private static void checkKinds(FunctionIr f, Node node) {
    if (node instanceof Node.Assign a) {
      assertThat(a.value().kind()).as("%s in %s", a, f.name()).isEqualTo(a.target().kind());
    }
    if (node instanceof Node.Guarded g) {
      assertThat(g.condition().kind()).as("%s in %s", g, f.name()).isEqualTo(Kind.INT);
      g.body().forEach(n -> checkKinds(f, n));
    }
    Node.reads(node, r -> assertThat(f.registers().get(r.index())).isSameAs(r));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"language", "warp_primitives", "math_functions", "clusters", "simple_texture"})
  void everyBlockEndsAndIsNumberedInItsOrder(String resource) {
    for (FunctionIr f : functions(resource)) {
      List<BasicBlock> blocks = f.blocks();
      assertThat(blocks.get(0)).isSameAs(f.start());
      assertThat(blocks)
          .extracting(BasicBlock::index)
          .isEqualTo(IntStream.range(0, blocks.size()).boxed().toList());
      for (BasicBlock b : blocks) {
        assertThat(b.end()).isNotNull();
        assertThat(blocks).containsAll(Terminator.successors(b.end()));
      }
    }
  }

  /** A thread that has waited goes on at the entry of a region, and stays in it. */
  @ParameterizedTest
  @ValueSource(
      strings = {"language", "warp_primitives", "math_functions", "clusters", "simple_texture"})
  void regionsCoverTheKernel(String resource) {
    for (Program p : programs(resource)) {
      Regions regions = new Regions(p.kernel());
      Set<BasicBlock> covered = new HashSet<>();
      for (Regions.Region r : regions.regions()) {
        assertThat(r.blocks().get(0)).isSameAs(r.entry());
        covered.addAll(r.blocks());
        for (BasicBlock b : r.blocks()) {
          for (BasicBlock next : Terminator.successors(b.end())) {
            boolean stays = r.blocks().contains(next) && !(b.end() instanceof Terminator.Sync);
            assertThat(stays || regions.idOf(next) >= 0).isTrue();
          }
        }
      }
      assertThat(covered).containsAll(p.kernel().blocks());
    }
  }

  /** Their threads cannot be left in the middle. */
  @ParameterizedTest
  @ValueSource(strings = {"language", "warp_primitives", "clusters"})
  void functionsThatAreCalledDoNotWait(String resource) {
    for (Program p : programs(resource)) {
      for (FunctionIr f : p.functions().values()) {
        assertThat(f.blocks()).noneMatch(b -> b.end() instanceof Terminator.Sync);
      }
    }
  }

  private static List<FunctionIr> functions(String resource) {
    List<FunctionIr> all = new ArrayList<>();
    for (Program p : programs(resource)) {
      all.add(p.kernel());
      all.addAll(p.functions().values());
    }
    assertThat(all).isNotEmpty();
    return all;
  }
}
