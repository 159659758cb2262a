package graft.cli.terminal;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.LongConsumer;

/** Shows how many bytes have been copied, on one line of standard error if that is a terminal. */
public final class ByteProgress implements LongConsumer, AutoCloseable {
  private static final long PAUSE_NANOS = 500_000_000;
  private static final double MEGA = 1e6;

  private final PrintWriter terminal;
  private final boolean shown;
  private final long begin = System.nanoTime();
  private long last = begin;
  private boolean any;

  ByteProgress(PrintWriter terminal, boolean shown) {
    this.terminal = terminal;
    this.shown = shown;
  }

  /**
   * Progress of a command.
   *
   * @param terminal standard error, which takes control characters as they are
   */
  public static ByteProgress on(PrintWriter terminal) {
    return new ByteProgress(terminal, Question.isTerminal(2));
  }

  @Override
  public void accept(long bytes) {
    long now = System.nanoTime();
    if (shown && now - last > PAUSE_NANOS) {
      last = now;
      any = true;
      double mega = bytes / MEGA;
      double rate = mega * 1e9 / (now - begin);
      terminal.print(String.format(Locale.ROOT, "\r%.1f MB, %.1f MB/s   ", mega, rate));
      terminal.flush();
    }
  }

  /** Clears the line. */
  @Override
  public void close() {
    if (any) {
      terminal.print("\r\u001b[K");
      terminal.flush();
    }
  }
}
