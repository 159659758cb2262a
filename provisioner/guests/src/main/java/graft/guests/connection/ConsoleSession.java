package graft.guests.connection;

import graft.common.GraftException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;

/** A guest's console joined to a terminal, or to the standard input and output. */
public final class ConsoleSession {
  private static final int BUFFER = 1 << 13;

  /** Why a session has ended. */
  public enum End {
    /** The caller left it, or the input and the answers to it are at their end. */
    LEFT,
    /** The console has ended: the guest has stopped, or another program has taken its console. */
    CONSOLE
  }

  private final ConsoleStream console;
  private final InputStream input;
  private final OutputStream output;
  private final Optional<Duration> silence;
  private End end;
  private Exception failure;
  private boolean inputEnded;
  private long lastNanos;

  private ConsoleSession(
      ConsoleStream console, InputStream input, OutputStream output, Optional<Duration> silence) {
    this.console = console;
    this.input = input;
    this.output = output;
    this.silence = silence;
  }

  /** Joins the console to a terminal, which becomes raw: the guest's bytes reach it unchanged. */
  public static ConsoleSession onTerminal(ConsoleStream console, LocalTerminal terminal)
      throws IOException {
    terminal.raw();
    return new ConsoleSession(
        console, EscapedInput.ofConsole(terminal.input()), terminal.output(), Optional.empty());
  }

  /**
   * Types the input at the console.
   *
   * @param silence how long the console must have printed nothing after the end of the input
   */
  public static ConsoleSession of(
      ConsoleStream console, InputStream input, OutputStream output, Duration silence) {
    return new ConsoleSession(console, input, output, Optional.of(silence));
  }

  /** The failure of a console that somebody else has open. */
  public static GraftException taken() {
    return new GraftException(
        "the console is open elsewhere",
        "leave it there (graft console, virsh console: Ctrl-]), or take it with --force");
  }

  /**
   * Passes on what is typed and what is shown until one end is gone. The console is closed then.
   *
   * @throws IOException if the output cannot be written
   */
  public End await() throws IOException, InterruptedException {
    Thread typing = thread("graft-console-input", this::type);
    Thread showing = thread("graft-console-output", this::show);
    typing.start();
    showing.start();
    try {
      return ended();
    } finally {
      console.close();
      typing.interrupt();
    }
  }

  private static Thread thread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  private synchronized End ended() throws IOException, InterruptedException {
    while (end == null) {
      long left = Long.MAX_VALUE;
      if (inputEnded && silence.isPresent()) {
        left = silence.get().toNanos() - (System.nanoTime() - lastNanos);
      }
      if (left <= 0) {
        return End.LEFT;
      }
      wait(left == Long.MAX_VALUE ? 0 : left / 1_000_000 + 1);
    }
    if (failure instanceof IOException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    return end;
  }

  private synchronized void end(End how, Exception why) {
    if (end == null) {
      end = how;
      failure = why;
    }
    notifyAll();
  }

  private void type() {
    byte[] buffer = new byte[BUFFER];
    try {
      for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
        console.write(buffer, count);
      }
      inputEnded();
    } catch (IOException | RuntimeException e) {
      end(End.CONSOLE, e);
    }
  }

  private synchronized void inputEnded() {
    if (silence.isEmpty()) {
      end(End.LEFT, null);
      return;
    }
    inputEnded = true;
    lastNanos = System.nanoTime();
    notifyAll();
  }

  private void show() {
    byte[] buffer = new byte[BUFFER];
    try {
      for (int count = console.read(buffer); count >= 0; count = console.read(buffer)) {
        output.write(buffer, 0, count);
        output.flush();
        shown();
      }
      end(End.CONSOLE, null);
    } catch (IOException | RuntimeException e) {
      end(End.CONSOLE, e);
    }
  }

  private synchronized void shown() {
    lastNanos = System.nanoTime();
  }

  /** Ends the session, while another thread waits for it. */
  public void stop() {
    end(End.LEFT, null);
  }
}
