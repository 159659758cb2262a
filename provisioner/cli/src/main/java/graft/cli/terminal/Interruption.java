package graft.cli.terminal;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

/** Reports the state in which an interruption (Ctrl-C) leaves the deployment. */
public final class Interruption {
  private Interruption() {}

  /** Does the work, and prints the message if the process is interrupted during it. */
  static <T> T told(PrintWriter err, String message, Callable<T> work) throws Exception {
    return during(
        () -> {
          err.println();
          err.println(message);
          err.flush();
        },
        work);
  }

  /** Does the work, and carries out the action if the process is interrupted during it. */
  public static <T> T during(Runnable action, Callable<T> work) throws Exception {
    Thread hook = new Thread(action);
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return work.call();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // the JVM is already shutting down
      }
    }
  }
}
