package graft.remoting.server.session.code;

import graft.remoting.software.DeviceCode.Findings;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * Whether a session's kernels may call printf. The driver prints only in a call that waits, so that
 * a wait which finds its stream idle must still call the driver. For code that does not print, that
 * call would waste a microsecond or two.
 *
 * <p>Code that prints names the function {@code vprintf}. Code that is not searched, or not yet,
 * counts as code that prints. Only the executor uses this class.
 */
public final class PrintingCode {
  private final Queue<CompletableFuture<Findings>> searches = new ArrayDeque<>();
  private boolean prints;

  /** Returns whether any code that was loaded so far may print. */
  public boolean mayPrint() {
    while (!prints && !searches.isEmpty()) {
      if (!searches.peek().isDone()) {
        return true;
      }
      prints = searches.remove().join().mayUseFunction();
    }
    return prints;
  }

  /** Notes code that was loaded, and is searched. */
  void loaded(CompletableFuture<Findings> search) {
    if (!prints) {
      searches.add(search);
    }
  }

  /** Notes code that was loaded and cannot be searched. */
  void loadedOther() {
    prints = true;
  }
}
