package graft.cli.deployment;

import graft.cli.hosts.HostsOption;
import graft.cli.printed.DeploymentForms;
import graft.cli.printed.HostsForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.Repetition;
import graft.common.values.TimeSpan;
import graft.deployment.Deployments;
import graft.deployment.ListedDeployment;
import graft.deployment.descriptor.InvalidDescriptorException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code graft status}: shows the state of a deployment, and how it differs from its descriptor.
 */
@Prints({DeploymentForms.State.class, DeploymentForms.Listed.class, HostsForms.State.class})
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    header = "Shows the state of a deployment now, and how it differs from its descriptor.",
    description = {
      "",
      "Asks the hypervisor, the servers, the guests and the nodes now, each with a time limit, and"
          + " shows what graft apply would do, and what is wrong that apply does not repair: a"
          + " server, a guest or a node that does not answer, a guest's client that is not this"
          + " host's. Without an argument, the same as graft list. Ends with 0 if nothing differs"
          + " and all answer, 7 otherwise.",
      "",
      "With --watch the status is shown again and again until Ctrl-C; with --output json each"
          + " line is then one JSON object.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft status",
      "  graft status lab.yaml",
      "  graft status --watch --interval 10s lab",
      "  graft status --timeout 30s lab",
      "  graft status --output json lab"
    })
public final class StatusCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(
      arity = "0..1",
      paramLabel = "DESCRIPTOR|NAME",
      description = "The descriptor, or the name of a deployment that was applied.")
  String given;

  @Option(
      names = {"-w", "--watch"},
      description = "Show the status again and again.")
  boolean watch;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "2s",
      description =
          "How long a server, a guest or a node of a deployment on this host may take to answer"
              + " (default: ${DEFAULT-VALUE}).")
  TimeSpan timeout;

  @Mixin Repetition repetition;

  @Mixin HostsOption hosts;

  @Override
  public Integer call() throws Exception {
    Optional<Integer> code =
        hosts.run(
            given, output, report -> watch ? repetition.run(report::statusAgain) : report.status());
    return code.isPresent() ? code.get() : onThisHost();
  }

  private int onThisHost() throws Exception {
    return watch ? repetition.run(this::again) : once();
  }

  private int once() throws InvalidDescriptorException {
    if (given == null) {
      return DeploymentTable.print(output, ListedDeployment.all());
    }
    StatusReport report = StatusReport.of(Deployments.find(given), given, timeout.toDuration());
    output.say(report.text().stripTrailing());
    output.result(report.tree());
    return report.same() ? ExitCode.OK : ExitCode.DIFFERS;
  }

  private int again(String now) throws InvalidDescriptorException {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", now);
    String text;
    int code;
    if (given == null) {
      var all = ListedDeployment.all();
      text = DeploymentTable.text(all);
      line.putAll(DeploymentTable.tree(all));
      code = DeploymentTable.code(all);
    } else {
      StatusReport report = StatusReport.of(Deployments.find(given), given, timeout.toDuration());
      text = report.text();
      line.putAll(report.tree());
      code = report.same() ? ExitCode.OK : ExitCode.DIFFERS;
    }
    output.clearScreen();
    output.say(now + "\n" + text.stripTrailing());
    output.resultLine(line);
    return code;
  }
}
