package graft.remoting.server.session.code;

import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import graft.remoting.software.DeviceCode.Findings;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a program once which setting it may need: its kernels have atomics of system scope, and it
 * has managed memory that program and kernels may use at the same time. Such atomics are not atomic
 * with respect to the program's own (docs/driver-api.md), and the mode that makes them so is not
 * the default, because other programs would wait forever in it.
 *
 * <p>Large images are not searched, nor is machine code, in which the scope has no name. Only the
 * executor uses this class.
 */
public final class SystemAtomics {
  private static final Logger LOG = LoggerFactory.getLogger(SystemAtomics.class);
  private static final int STDERR = 2;

  private final Consumer<String> program;
  private final List<CompletableFuture<Findings>> searches = new ArrayList<>();
  private boolean areUsed;
  private boolean isMemoryShared;
  private boolean isTold;

  /** Creates the watch of a session whose program has this process's standard error. */
  public SystemAtomics() {
    this(SystemAtomics::print);
  }

  /**
   * Creates the watch of a session.
   *
   * @param program prints a line on the program's standard error
   */
  SystemAtomics(Consumer<String> program) {
    this.program = program;
  }

  /** What is written to standard error goes to the program: DeviceOutput. */
  private static void print(String line) {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    try (Scratch text = Scratch.of(bytes)) {
      if (Libc.write(STDERR, text.address(), bytes.length) != bytes.length) {
        LOG.debug("the program is not told: {}", line);
      }
    }
  }

  /** Notes code that was loaded, and is searched. */
  void loaded(CompletableFuture<Findings> search) {
    searches.add(search);
    take(any -> isMemoryShared || any.isDone());
    tell();
  }

  /** Notes that the program has managed memory which it shares with kernels. */
  public void sharesMemory() {
    isMemoryShared = true;
    take(any -> true);
    tell();
  }

  /** Takes what searches have found; of those that have not ended, it waits for the wanted. */
  private void take(Predicate<CompletableFuture<Findings>> wanted) {
    searches.removeIf(
        search -> {
          boolean isWanted = wanted.test(search);
          areUsed |= isWanted && search.join().systemAtomics();
          return isWanted;
        });
  }

  private void tell() {
    if (areUsed && isMemoryShared && !isTold) {
      isTold = true;
      program.accept(
          "graft: this program has managed memory, and its kernels use system-wide atomics: if"
              + " program and kernels use such memory at the same time, set"
              + " GRAFT_MANAGED=exclusive\n");
    }
  }
}
