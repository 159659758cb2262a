package graft.deployment;

import java.util.concurrent.Callable;

/** Progress that nobody sees. */
public final class QuietProgress implements DeploymentProgress {
  @Override
  public void warning(String text) {}

  @Override
  public <T> T interruptible(String message, Callable<T> work) throws Exception {
    return work.call();
  }
}
