package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Checks that classes, methods and the client's files stay short enough to be read. A longer one is
 * listed here with the reason.
 */
final class SizesTest {
  private static final int MOST_OF_A_CLASS = 400;
  private static final int MOST_OF_A_METHOD = 80;
  private static final int MOST_OF_A_CLIENT_FILE = 500;

  /** Each class or method that is longer, and why. */
  private static final Map<String, String> LONGER =
      Map.of(
          "AttackedFunction",
          "The class is a table: how each kind of parameter in driver.api is attacked.",
          "CudaSessionTest",
          "Each test is one call of a session, and all use the same session.",
          "FakeCuda",
          "The fake stands for a whole driver, whose functions share streams, events and memory.",
          "FakeHost",
          "The fake is one simulated host, and its methods share what the host has.",
          "InstructionCases",
          "The class is a table with the cases of every PTX instruction.",
          "InstructionCases.integers",
          "The method is one table, with a line for each instruction.",
          "RandomKernel.integerOperation",
          "The method is one switch, with a line or two for each operation.",
          "OperationsTest",
          "Each change of a device is tried in the same way on the same simulated host.",
          "PlannerTest",
          "Each test is one deployment against the same simulated host.",
          "RecordedDeployments.others",
          "The method is a list of recorded steps, one of each kind.");

  @Test
  void everyJavaClassAndMethodIsShortOrSaysWhyNot() throws IOException {
    Map<String, Long> longer = new TreeMap<>();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(sources(".java")));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        new Measure(unit, positions, longer).scan(unit, null);
      }
    }
    assertThat(longer.keySet())
        .as("classes over %d lines, methods over %d: %s", MOST_OF_A_CLASS, MOST_OF_A_METHOD, longer)
        .containsExactlyInAnyOrderElementsOf(LONGER.keySet());
  }

  @Test
  void everyFileOfTheClientIsShort() throws IOException {
    List<String> longer = new ArrayList<>();
    for (Path file : sources(".c", ".h")) {
      long lines = Files.readAllLines(file).size();
      if (file.startsWith(Checkout.ROOT.resolve("remoting-bridge/client"))
          && lines > MOST_OF_A_CLIENT_FILE) {
        longer.add(Checkout.ROOT.relativize(file) + ": " + lines);
      }
    }
    assertThat(longer).as("files over %d lines", MOST_OF_A_CLIENT_FILE).isEmpty();
  }

  /** Relies on the format that the build checks: a function's brace closes in the first column. */
  @Test
  void everyFunctionInCIsShort() throws IOException {
    Pattern function = Pattern.compile("(?m)^\\w[^\\n;]*\\{\\n(?:[^}].*\\n|\\n)*+\\}");
    // after: a line for each call, with the driver's result; serve: a branch for each answer.
    Set<String> tables =
        Set.of(
            "distribution/src/test/c/faults.c: static void after(",
            "remoting-bridge/client/test/hostile/main.c: static void serve(");
    List<String> longer = new ArrayList<>();
    for (Path file : sources(".c")) {
      Matcher matcher = function.matcher(Files.readString(file));
      while (matcher.find()) {
        long lines = matcher.group().lines().count();
        if (lines > MOST_OF_A_METHOD) {
          String first = matcher.group().lines().findFirst().orElseThrow();
          longer.add(Checkout.ROOT.relativize(file) + ": " + first + " has " + lines + " lines");
        }
      }
    }
    longer.removeIf(each -> tables.stream().anyMatch(each::startsWith));
    assertThat(longer).isEmpty();
  }

  /** The sources of the tree, without what a build makes and what examples/applications copies. */
  private static List<Path> sources(String... endings) throws IOException {
    try (Stream<Path> files = Files.walk(Checkout.ROOT)) {
      List<Path> found =
          files
              .filter(file -> Stream.of(endings).anyMatch(file.toString()::endsWith))
              .filter(
                  file -> !Checkout.ROOT.relativize(file).toString().matches(".*(target|built)/.*"))
              .toList();
      assertThat(found).isNotEmpty();
      return found;
    }
  }

  /** Notes what is too long. A class counts from its modifiers to its last brace. */
  private static final class Measure extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final Map<String, Long> longer;

    Measure(CompilationUnitTree unit, SourcePositions positions, Map<String, Long> longer) {
      this.unit = unit;
      this.positions = positions;
      this.longer = longer;
    }

    @Override
    public Void visitClass(ClassTree tree, Void none) {
      note(tree.getSimpleName().toString(), tree, MOST_OF_A_CLASS);
      return super.visitClass(tree, null);
    }

    @Override
    public Void visitMethod(MethodTree tree, Void none) {
      ClassTree owner = (ClassTree) getCurrentPath().getParentPath().getLeaf();
      note(owner.getSimpleName() + "." + tree.getName(), tree, MOST_OF_A_METHOD);
      return super.visitMethod(tree, null);
    }

    private void note(String name, Tree tree, int most) {
      long lines =
          unit.getLineMap().getLineNumber(positions.getEndPosition(unit, tree))
              - unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree))
              + 1;
      if (lines > most) {
        longer.put(name, lines);
      }
    }
  }
}
