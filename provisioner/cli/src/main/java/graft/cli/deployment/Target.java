package graft.cli.deployment;

import graft.deployment.Deployments;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.state.StateFolder;
import picocli.CommandLine.Parameters;

/**
 * The deployment on which a command works, given by the file of its descriptor or, once applied, by
 * its name.
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
