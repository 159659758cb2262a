package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.json.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The schemas of what commands print as JSON. */
class OutputSchemaTest {
  /**
   * Commands without a schema: the fields of inventory are Ansible's, those of bundles are the
   * bundles' names, ui prints one line for its launcher, run, serve and shell print none, and the
   * others print results files.
   */
  private static final Set<String> NONE =
      Set.of(
          "graft inventory",
          "graft bundles",
          "graft ui",
          "graft run",
          "graft serve",
          "graft shell",
          "graft trace",
          "graft compare",
          "graft fidelity",
          "graft bench remoting",
          "graft bench sharing",
          "graft bench summarize",
          "graft bench timeline");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int graft(String... args) {
    CommandLine line = Main.commandLine(args);
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  /** The commands below one that print JSON and declare no form of it. */
  private static void without(CommandLine line, Set<String> found) {
    boolean json =
        line.getCommandSpec().mixins().values().stream()
            .anyMatch(mixin -> mixin.userObject() instanceof Output);
    if (json && line.getCommand().getClass().getAnnotation(Prints.class) == null) {
      found.add(line.getCommandSpec().qualifiedName());
    }
    line.getSubcommands().values().forEach(below -> without(below, found));
  }

  @Test
  void everyCommandDeclaresWhatItPrints() {
    Set<String> found = new TreeSet<>();
    without(Main.commandLine(), found);
    assertThat(found).containsExactlyInAnyOrderElementsOf(NONE);
  }

  @Test
  void theSchemaOfACommandIsPrinted() throws Exception {
    assertThat(graft("schema", "--command", "image list")).isEqualTo(ExitCode.OK);
    Map<String, Object> schema = Json.readObject(out.toString());
    assertThat(schema)
        .containsEntry("title", "The JSON output of graft image list")
        .containsEntry("required", List.of("formatVersion", "images"));
    assertThat(((Map<?, ?>) schema.get("properties")).get("formatVersion"))
        .isEqualTo(Map.of("const", 1L));
  }

  @Test
  void aCommandWithoutSchemaSaysSo() {
    assertThat(graft("schema", "--command", "bundles")).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("the JSON of 'graft bundles' has no schema");
    assertThat(graft("schema", "--command", "plam")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("there is no command 'plam'", "plan");
    assertThat(graft("schema", "--markdown", "--command", "plan")).isEqualTo(ExitCode.USAGE);
  }

  private record Form(String name) {}

  /** Prints something. */
  @Command(name = "one")
  @Prints(Form.class)
  private static final class One implements Runnable {
    @Mixin Output output;
    private Map<String, Object> tree;

    @Override
    public void run() {
      output.result(tree);
    }
  }

  @Test
  void whatACommandPrintsIsCheckedInTests() {
    One one = new One();
    CommandLine line = new CommandLine(one);
    line.setExecutionExceptionHandler(
        (e, command, result) -> {
          throw e;
        });
    one.tree = Map.of("name", "a");
    assertThat(line.execute("--output", "json")).isZero();
    one.tree = Map.of("name", "a", "more", 1);
    assertThatThrownBy(() -> line.execute("--output", "json"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("one prints what no schema has: [.more is in no schema]");
  }
}
