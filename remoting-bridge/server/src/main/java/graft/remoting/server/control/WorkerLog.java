package graft.remoting.server.control;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;

/**
 * Copies a worker's log into the server's: only text, in lines of limited length, and no more than
 * a healthy worker writes. The rest is counted and dropped, so that a guest cannot fill the host's
 * disk.
 */
public final class WorkerLog {
  private static final int LINE = 2_000;

  private final InputStream from;
  private final PrintStream to;
  private final String who;
  private final Supplier<LogBudget> budget;
  private long dropped;

  private WorkerLog(InputStream from, PrintStream to, String who, Supplier<LogBudget> budget) {
    this.from = from;
    this.to = to;
    this.who = who;
    this.budget = budget;
  }

  /**
   * Copies, on a thread of its own, until the worker has ended.
   *
   * @param budget the budget that a line is written from: the worker's own or its guest's
   */
  public static void copy(
      InputStream from, PrintStream to, String who, Supplier<LogBudget> budget) {
    Thread thread =
        new Thread(null, () -> run(from, to, who, budget), "graft-worker-log", 128 * 1024);
    thread.setDaemon(true);
    thread.start();
  }

  /** Copies until the worker has ended. */
  public static void run(InputStream from, PrintStream to, String who, Supplier<LogBudget> budget) {
    new WorkerLog(from, to, who, budget).run();
  }

  /**
   * Reads lines until the stream ends or fails, and closes it. A line that is longer than 2000
   * bytes counts as several.
   *
   * @param each gets the bytes of a line, which are valid until it returns, and their number
   */
  public static void lines(InputStream from, ObjIntConsumer<byte[]> each) {
    byte[] chunk = new byte[4096];
    byte[] line = new byte[LINE];
    int length = 0;
    try (from) {
      int count;
      while ((count = from.read(chunk)) >= 0) {
        for (int i = 0; i < count; i++) {
          if (chunk[i] == '\n' || length == LINE) {
            each.accept(line, length);
            length = 0;
          }
          if (chunk[i] != '\n') {
            line[length++] = chunk[i];
          }
        }
      }
    } catch (IOException e) {
      // The process that wrote has ended.
    }
    if (length > 0) {
      each.accept(line, length);
    }
  }

  private void run() {
    lines(from, this::write);
    reportDropped();
  }

  private void write(byte[] line, int length) {
    if (!budget.get().spend(length + 1L)) {
      dropped += length + 1;
      return;
    }
    reportDropped();
    to.println(text(line, length));
  }

  /** Returns a line as text that controls no terminal. */
  public static String text(byte[] line, int length) {
    return printable(new String(line, 0, length, StandardCharsets.UTF_8));
  }

  private void reportDropped() {
    if (dropped > 0) {
      to.println(who + " exceeded the limit of its log: " + dropped + " bytes were dropped");
      dropped = 0;
    }
  }

  /** Replaces the characters that would control a terminal. */
  static String printable(String text) {
    return text.replaceAll("[\\p{Cntrl}&&[^\t]]", "?");
  }
}
