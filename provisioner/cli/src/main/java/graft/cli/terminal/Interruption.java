package graft.cli.terminal;

import java.io.PrintWriter;
import java.util.concurrent.Callable;

/** Tells whoever interrupts the process what state that leaves. */
public final class Interruption {
  private Interruption() {}

  /** Does the work; if the process is interrupted meanwhile, prints the message. */
  static <T> T told(PrintWriter err, String message, Callable<T> work) throws Exception {
    Thread hook =
        new Thread(
            () -> {
              err.println();
              err.println(message);
              err.flush();
            });
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return work.call();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // the hook runs already
      }
    }
  }
}
