package graft.cli.deployment;

import graft.deployment.Deployments;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.state.StateFolder;
import picocli.CommandLine.Parameters;

/**
 * The deployment that a command is about: a descriptor's file, or the name of one that was applied.
 */
public final class Target {
  @Parameters(
      index = "0",
      paramLabel = "DESCRIPTOR|NAME",
      description = "The descriptor, or the name of a deployment that was applied.")
  public String given;

  /** The state of the deployment. */
  public StateFolder state() throws InvalidDescriptorException {
    return Deployments.find(given);
  }
}
