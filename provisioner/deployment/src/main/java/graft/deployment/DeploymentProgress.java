package graft.deployment;

import graft.deployment.apply.ApplyListener;
import java.util.concurrent.Callable;

/** Receives the progress of a change of a deployment, and shows it to the user. */
public interface DeploymentProgress extends ApplyListener {
  /** A warning of the plan, before its first step. */
  void warning(String text);

  /**
   * Does the work.
   *
   * @param message shown to the user if the process is interrupted meanwhile
   */
  <T> T interruptible(String message, Callable<T> work) throws Exception;
}
