package graft.deployment;

import graft.deployment.apply.ApplyListener;
import java.util.concurrent.Callable;

/** Hears how the change of a deployment goes, and passes it on to the user. */
public interface DeploymentProgress extends ApplyListener {
  /** A warning of the plan, before its first step. */
  void warning(String text);

  /**
   * Does the work.
   *
   * @param message what the user is told if the process is interrupted meanwhile
   */
  <T> T interruptible(String message, Callable<T> work) throws Exception;
}
