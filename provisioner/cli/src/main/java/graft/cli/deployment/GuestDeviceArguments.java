package graft.cli.deployment;

import graft.deployment.DeviceAttachment;
import graft.deployment.descriptor.InvalidDescriptorException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A guest of a deployment and a device of the host, for the commands that attach and detach. */
final class GuestDeviceArguments {
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Parameters(
      index = "2",
      paramLabel = "DEVICE",
      description = "A PCI address, ADAPTER, ADAPTER:INDEX, or the UUID of a mediated device.")
  String device;

  @Option(names = "--plan", description = "Show what would be done, and do nothing.")
  boolean only;

  /** The attachment that these arguments describe. */
  DeviceAttachment attachment() throws InvalidDescriptorException {
    return new DeviceAttachment(target.state(), guest, device);
  }
}
