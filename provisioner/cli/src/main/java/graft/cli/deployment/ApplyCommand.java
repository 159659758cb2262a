package graft.cli.deployment;

import graft.cli.hosts.HostsOption;
import graft.cli.printed.DeploymentForms;
import graft.cli.printed.HostsForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.values.Seconds;
import graft.deployment.SavedPlan;
import graft.deployment.Workspace;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.plan.Plan;
import graft.remoting.server.operate.OperatorClient;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft apply}: changes the host to match the descriptor. */
@Prints({DeploymentForms.Applied.class, HostsForms.Applied.class})
@Command(
    name = "apply",
    mixinStandardHelpOptions = true,
    header = "Changes the host to match the descriptor.",
    description = {
      "",
      "Carries out what graft plan shows. Each step is written to a journal before it begins. If a"
          + " step fails, everything that this run did is undone. After Ctrl-C or a crash, apply"
          + " continues and undo reverts. Applying again changes nothing.",
      "",
      "Given a plan that graft plan --out has saved, apply makes the plan again from the descriptor"
          + " that the file names. It ends with 7 and changes nothing if the two plans differ, and"
          + " says in what.",
      "",
      "With hosts in the descriptor, --inventory or --connect, Graft runs on each host by SSH;"
          + " several hosts are changed at one time. A host that fails undoes its own steps, and"
          + " on-failure in the descriptor says what that means for the others. Ends with 5 if some"
          + " hosts were changed and others not: apply goes on, undo takes back.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft apply lab.yaml",
      "  graft apply lab.plan                      do what graft plan --out lab.plan showed",
      "  graft apply --inventory hosts.ini cluster.yaml",
      "  graft apply --connect qemu+ssh://root@node1/system lab.yaml",
      "  graft apply --keep-on-failure lab.yaml    keep a failed guest for inspection"
    })
public final class ApplyCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "DESCRIPTOR|PLAN", description = "The descriptor, or a saved plan.")
  Path given;

  @Mixin ChangeOption change;

  @Option(names = "--keep-on-failure", description = "If a step fails, undo nothing (exit code 5).")
  boolean keep;

  @Mixin HostsOption hosts;

  @Override
  public Integer call() throws Exception {
    Optional<Integer> code =
        hosts.run(
            given.toString(),
            output,
            report -> report.apply(change.consent(output), change.deletesData(), keep));
    return code.isPresent() ? code.get() : onThisHost();
  }

  private int onThisHost() throws Exception {
    long start = System.nanoTime();
    Optional<SavedPlan> saved =
        SavedPlan.isOne(given) ? Optional.of(SavedPlan.read(given)) : Optional.empty();
    Path descriptor = saved.map(SavedPlan::descriptor).orElse(given);
    String file = descriptor.toAbsolutePath().normalize().toString();
    try (Workspace workspace =
        new Workspace(DescriptorReader.read(descriptor), OperatorClient::sessions)) {
      Plan plan;
      try {
        plan =
            workspace.apply(
                saved, keep, change.consent(output), OperatorAudit.progress(output.err(), file));
      } catch (Exception e) {
        OperatorAudit.write(output.err(), "apply", Map.of("descriptor", file, "outcome", "failed"));
        throw e;
      }
      if (!plan.isEmpty()) {
        OperatorAudit.write(
            output.err(),
            "apply",
            Map.of(
                "deployment",
                plan.deployment(),
                "descriptor",
                file,
                "outcome",
                "applied",
                "steps",
                plan.actions().size()));
      }
      double seconds = Seconds.since(start);
      output.say(
          plan.isEmpty()
              ? plan.deployment() + ": nothing to do"
              : plan.deployment() + String.format(Locale.ROOT, ": applied in %.1f s", seconds));
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("deployment", plan.deployment());
      tree.put("steps", plan.actions().size());
      tree.put("seconds", seconds);
      tree.put("warnings", plan.warnings());
      output.result(tree);
      return ExitCode.OK;
    }
  }
}
