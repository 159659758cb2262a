package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.common.GraftException;
import graft.common.values.Seconds;
import graft.deployment.Consent;
import graft.deployment.DemoRun;
import graft.deployment.DeploymentStatus;
import graft.deployment.UndoRun;
import graft.deployment.Workspace;
import graft.deployment.plan.Plan;
import graft.deployment.step.host.GraftCommand;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft demo}: runs the ordinary commands one after another on an example. */
@Prints(DeploymentForms.Demo.class)
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    header =
        "Runs a demonstration: two guests without a GPU run a CUDA program on a GPU of the host.",
    description = {
      "",
      "Plans and applies the example, runs its program in all guests at the same time, shows the"
          + " status, and removes everything again. The launcher first installs and builds what"
          + " is missing.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft demo",
      "  graft demo --page            write demo.html, and say where it is",
      "  graft demo --keep            keep the guests, for graft exec and graft status",
      "  graft demo --output json     print one JSON object at the end"
    })
public final class DemoCommand implements Callable<Integer> {
  @Mixin Output output;
  @Spec CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "DESCRIPTOR",
      description = "Another descriptor; each guest runs the first program among its files.")
  Path descriptor;

  @Option(names = "--keep", description = "Keep everything at the end.")
  boolean keep;

  @Option(
      names = "--page",
      arity = "0..1",
      paramLabel = "FILE",
      fallbackValue = "demo.html",
      description = "Write what happened as a page (default: ${FALLBACK-VALUE}); opens nothing.")
  Path page;

  @Option(
      names = {"-y", "--yes"},
      description = "For the launcher: install missing packages without asking.")
  boolean yes;

  private String planText = "";
  private String statusText = "";
  private double planSeconds;
  private long serverBytes;

  @Override
  public Integer call() throws Exception {
    if (page != null && !page.toString().endsWith(".html")) {
      throw new ParameterException(
          spec.commandLine(), "--page writes a page, and " + page + " does not end in .html");
    }
    long start = System.nanoTime();
    List<Map<String, Object>> rows;
    try (Workspace workspace = new Workspace(file())) {
      refuseDeploymentInUse(workspace);
      try {
        rows = applyAndRun(workspace);
      } finally {
        if (!keep) {
          takeAway(workspace);
        }
      }
    }
    double seconds = Seconds.since(start);
    table(rows);
    String costs =
        String.format(
            Locale.ROOT,
            "graft plan %.2f s, the server with %d sessions at most %d MB (PSS, its workers"
                + " included), %.1f s in all",
            planSeconds,
            rows.size(),
            serverBytes / 1_000_000,
            seconds);
    output.say(costs);
    if (page != null) {
      new DemoPage(rows, planText, statusText, costs).write(page);
      output.say("page: " + page.toAbsolutePath().normalize());
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guests", rows);
    tree.put("planSeconds", planSeconds);
    tree.put("serverBytes", serverBytes);
    tree.put("seconds", seconds);
    if (page != null) {
      tree.put("page", page.toAbsolutePath().normalize().toString());
    }
    output.result(tree);
    boolean well = rows.stream().allMatch(row -> "ok".equals(row.get("result")));
    return well ? ExitCode.OK : ExitCode.FAILED;
  }

  /** The demonstration removes what it makes, and would remove what was made before as well. */
  private void refuseDeploymentInUse(Workspace workspace) {
    if (descriptor != null && !keep && !workspace.journal().isEmpty()) {
      throw new GraftException(
          "the deployment '"
              + workspace.state().deployment()
              + "' exists already, and graft demo would remove it at its end",
          "graft demo --keep keeps it; graft destroy "
              + workspace.state().deployment()
              + " removes it first");
    }
  }

  private Path file() {
    if (descriptor != null) {
      return descriptor;
    }
    String home = System.getProperty("graft.home", "");
    return Path.of(home.isEmpty() ? "." : home).resolve("examples/demo.yaml");
  }

  private List<Map<String, Object>> applyAndRun(Workspace workspace) throws Exception {
    heading("plan");
    plan();
    heading("apply");
    long start = System.nanoTime();
    Plan applied = workspace.apply(false, Consent.NONE, new TextProgress(output.err()));
    output.say(
        applied.isEmpty()
            ? "nothing to do"
            : String.format(
                Locale.ROOT,
                "%d steps done in %.1f s",
                applied.actions().size(),
                Seconds.since(start)));
    heading("run");
    DemoRun programs = new DemoRun(workspace, output::say);
    List<Map<String, Object>> rows = programs.run();
    serverBytes = programs.serverBytes();
    heading("status");
    DeploymentStatus status = new DeploymentStatus(workspace.journal(), workspace.connections());
    statusText = StatusText.of(status).stripTrailing();
    output.say(statusText);
    return rows;
  }

  /** Starts graft as a shell does, so that the measured time is the time that a user waits. */
  private void plan() throws Exception {
    List<String> command = GraftCommand.shell(List.of("plan", file().toString()));
    long start = System.nanoTime();
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    planSeconds = Seconds.since(start);
    planText = said.stripTrailing();
    output.say(planText);
    if (code != ExitCode.OK) {
      throw new GraftException(
          "graft plan ended with exit code " + code, "fix what the message names, then try again");
    }
  }

  private void takeAway(Workspace workspace) throws Exception {
    heading("destroy");
    UndoRun.destroy(workspace.state(), new TextProgress(output.err()));
    output.say("everything is as it was");
  }

  private void heading(String command) {
    output.say("");
    output.say("== graft " + command);
  }

  private void table(List<Map<String, Object>> rows) {
    String form = "%-12s %15s  %-14s %-28s %s";
    output.say("");
    output.say(
        String.format(
            Locale.ROOT, form, "guest", "seconds to boot", "program", "device", "result"));
    for (Map<String, Object> row : rows) {
      output.say(
          String.format(
              Locale.ROOT,
              form,
              row.get("name"),
              row.get("bootSeconds"),
              row.get("program"),
              row.get("device"),
              row.get("result")));
    }
  }
}
