package graft.guests.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A program of this host that has the caller's terminal to itself, such as ssh(1): it makes the
 * terminal raw, passes on keys, sizes and what is shown.
 */
final class TerminalProgram implements TerminalSession {
  private static final long ENDING_SECONDS = 2;

  private final Process process;
  private final String name;

  private TerminalProgram(Process process, String name) {
    this.process = process;
    this.name = name;
  }

  /**
   * Starts the program.
   *
   * @param name what runs there, for messages
   */
  static TerminalProgram start(String name, ProcessBuilder program) throws IOException {
    return new TerminalProgram(program.inheritIO().start(), name);
  }

  @Override
  public int await(Duration timeout) {
    try {
      if (process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        return process.exitValue();
      }
    } catch (InterruptedException e) {
      stop();
      Thread.currentThread().interrupt();
      throw new GuestConnectionException("interrupted", "", false, e);
    }
    stop();
    throw new GuestConnectionException(
        "'" + name + "' did not end within " + timeout.toSeconds() + " s, and was ended",
        "allow more time, or find out why it hangs",
        false,
        null);
  }

  /** Ends what the program has started, and then the program, which restores the terminal. */
  @Override
  public void stop() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroy();
    try {
      if (!process.waitFor(ENDING_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
