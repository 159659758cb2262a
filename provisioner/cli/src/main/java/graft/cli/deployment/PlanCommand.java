package graft.cli.deployment;

import graft.cli.hosts.HostsOption;
import graft.cli.hosts.HostsReport;
import graft.cli.printed.DeploymentForms;
import graft.cli.printed.HostsForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.deployment.SavedPlan;
import graft.deployment.Workspace;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Plan;
import graft.remoting.server.operate.OperatorClient;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft plan}: shows what apply would do. */
@Prints({DeploymentForms.Planned.class, HostsForms.Planned.class})
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    header = "Shows what apply would do, and changes nothing.",
    description = {
      "",
      "Examines the host and compares it with the descriptor and with what was applied before."
          + " Lines with + will be done, lines with - will be undone; a terminal shows them in"
          + " green and red, unless the variable NO_COLOR has a value. All obstacles are reported"
          + " together, each with its place in the descriptor.",
      "",
      "With --out the plan is also saved, for graft apply PLAN: it does what was planned, or"
          + " nothing at all if the host or the descriptor has changed since. The file has mode"
          + " 0600 and holds a checksum of each step in place of its settings.",
      "",
      "With hosts in the descriptor, --inventory or --connect, each host makes its own plan: Graft"
          + " runs there by SSH.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft plan lab.yaml",
      "  graft plan --out lab.plan lab.yaml; graft apply lab.plan",
      "  graft plan --output json lab.yaml",
      "  graft plan --inventory hosts.ini cluster.yaml",
      "  graft plan --connect qemu+ssh://root@node1/system lab.yaml"
    })
public final class PlanCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "DESCRIPTOR", description = "The descriptor; - is standard input.")
  Path descriptor;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Save the plan for graft apply. Only a saved plan is replaced.")
  Path out;

  @Mixin HostsOption hosts;

  @Override
  public Integer call() throws Exception {
    Optional<Integer> code = hosts.run(descriptor.toString(), output, this::onHosts);
    return code.isPresent() ? code.get() : onThisHost();
  }

  private int onHosts(HostsReport report) throws Exception {
    if (out != null) {
      throw new GraftException(
          "a plan of many hosts cannot be saved", "leave --out away; apply makes the plan again");
    }
    return report.plan();
  }

  private int onThisHost() throws Exception {
    if (out != null && descriptor.equals(DescriptorReader.STANDARD_INPUT)) {
      throw new GraftException(
          "a plan of standard input cannot be saved", "write the descriptor to a file first");
    }
    try (Workspace workspace =
        new Workspace(DescriptorReader.readOrStandardInput(descriptor), OperatorClient::sessions)) {
      JournalState journal = workspace.journal();
      Plan plan = workspace.plan(journal, workspace.observe(journal));
      if (out != null) {
        SavedPlan.of(plan, journal, descriptor, Instant.now().truncatedTo(ChronoUnit.SECONDS))
            .write(out);
      }
      output.sayPlan(plan.toText().stripTrailing());
      output.result(plan.toTree());
      return ExitCode.OK;
    }
  }
}
