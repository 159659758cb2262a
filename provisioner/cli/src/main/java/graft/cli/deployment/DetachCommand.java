package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.DeviceAttachment;
import graft.deployment.plan.Plan;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft detach}: detaches a device of the host from a guest. */
@Prints(DeploymentForms.Planned.class)
@Command(
    name = "detach",
    mixinStandardHelpOptions = true,
    header = "Detaches a device of the host from a running guest.",
    description = {
      "",
      "Unplugs the device from the guest and binds it to the driver that it had before. The"
          + " descriptor stays as it is: if it gives the device to the guest, the next graft apply"
          + " does so again.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft detach lab.yaml alice 0000:65:00.0    a PCI device; for a GPU, all its functions",
      "  graft detach lab alice ib0:2                virtual function 2 of the adapter ib0"
    })
public final class DetachCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin GuestDeviceArguments given;

  @Override
  public Integer call() throws Exception {
    DeviceAttachment attachment = given.attachment();
    if (!given.only) {
      return UndoReport.report(
          output,
          "detach",
          given.target.state(),
          attachment.detach(new TextProgress(output.err())));
    }
    Plan plan = attachment.detachPlan();
    output.say(plan.toText().stripTrailing());
    output.result(plan.toTree());
    return ExitCode.OK;
  }
}
