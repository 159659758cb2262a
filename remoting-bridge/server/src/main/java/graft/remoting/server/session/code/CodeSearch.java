package graft.remoting.server.session.code;

import graft.remoting.server.system.Scratch;
import graft.remoting.software.DeviceCode;
import graft.remoting.software.DeviceCode.Findings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Searches the code that a session loads, on a thread of its own: the first search of a process
 * takes 10 to 80 ms, for which the program's first kernel need not wait.
 */
public final class CodeSearch {
  /** Larger images are not searched. */
  private static final int LARGEST = 256 << 10;

  /** The most images that wait to be searched, so that their copies do not fill the memory. */
  private static final int MOST_WAITING = 16;

  private static final long IDLE_SECONDS = 10;
  private static final long STACK = 256 << 10;
  private static final String PRINTF = "vprintf";

  /** What is assumed of code that is not searched. */
  private static final Findings UNKNOWN = new Findings(true, false);

  private final Executor executor;
  private final AtomicInteger waiting = new AtomicInteger();

  /** Creates the search of a session. */
  public CodeSearch() {
    this(
        new ThreadPoolExecutor(
            0, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), CodeSearch::thread));
  }

  CodeSearch(Executor executor) {
    this.executor = executor;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(null, task, "graft-code-search", STACK);
    thread.setDaemon(true);
    return thread;
  }

  /** Searches a copy of an image: for printf, and for atomic operations of system scope. */
  CompletableFuture<Findings> search(long image, long bytes) {
    if (bytes > LARGEST || waiting.get() >= MOST_WAITING) {
      return CompletableFuture.completedFuture(UNKNOWN);
    }
    byte[] code = Scratch.bytesAt(image, (int) bytes);
    waiting.incrementAndGet();
    return CompletableFuture.supplyAsync(() -> DeviceCode.search(code, PRINTF), executor)
        .handle(
            (findings, failure) -> {
              waiting.decrementAndGet();
              return failure == null ? findings : UNKNOWN;
            });
  }
}
