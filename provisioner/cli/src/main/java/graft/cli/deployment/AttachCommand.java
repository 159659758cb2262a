package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.TextProgress;
import graft.deployment.DeviceAttachment;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft attach}: gives a guest a device of the host. */
@Command(
    name = "attach",
    mixinStandardHelpOptions = true,
    header = "Gives a guest a device of the host, while it runs.",
    description = {
      "",
      "Takes the device from the host, as graft plan would for a device of the descriptor, and plugs"
          + " it into the guest. The descriptor stays as it is: the next graft apply takes the"
          + " device back unless it is written there.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft attach lab.yaml alice 0000:65:00.0    a PCI device; of a GPU all functions",
      "  graft attach lab alice ib0:2                virtual function 2 of the adapter ib0",
      "  graft attach lab alice ib0                  any that is free",
      "  graft attach --plan lab alice ib0           only says what it would do"
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
          "graft apply takes it back unless the guest in "
              + attached.descriptor()
              + " has "
              + attached.inDescriptor());
    }
    output.result(attached.plan().toTree());
    return ExitCode.OK;
  }
}
