package graft.cli.deployment;

import graft.cli.printed.DeploymentForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.deployment.DeviceAttachment;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft attach}: attaches a device of the host to a guest. */
@Prints(DeploymentForms.Planned.class)
@Command(
    name = "attach",
    mixinStandardHelpOptions = true,
    header = "Attaches a device of the host to a running guest.",
    description = {
      "",
      "Binds the device as graft apply would for a device of the descriptor, and plugs it into the"
          + " guest. The descriptor is not changed: the next graft apply detaches the device"
          + " unless the descriptor names it.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft attach lab.yaml alice 0000:65:00.0    a PCI device; for a GPU, all its functions",
      "  graft attach lab alice ib0:2                virtual function 2 of the adapter ib0",
      "  graft attach lab alice ib0                  any free function",
      "  graft attach --plan lab alice ib0           only shows what would be done"
    })
public final class AttachCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin GuestDeviceArguments given;

  @Override
  public Integer call() throws Exception {
    DeviceAttachment attachment = given.attachment();
    DeviceAttachment.Attached attached =
        attachment.attach(
            given.only,
            plan -> output.say(plan.toText().stripTrailing()),
            new TextProgress(output.err()));
    if (!given.only && !attached.plan().isEmpty() && !attached.described()) {
      output.say(
          "graft apply detaches it unless the guest in "
              + attached.descriptor()
              + " has "
              + attached.inDescriptor());
    }
    output.result(attached.plan().toTree());
    return ExitCode.OK;
  }
}
