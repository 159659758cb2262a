package graft.guests.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Runs programs and copies files in a running guest, as root or as the user of the SSH login. Every
 * method throws {@link GuestConnectionException} if the guest does not answer.
 */
public interface GuestConnection {
  /** Whether the guest answers now. */
  boolean answers(Duration timeout);

  /**
   * Runs a program and waits for its end.
   *
   * @param input the program's standard input; may be empty
   */
  Ended run(List<String> words, byte[] input, Duration timeout);

  /**
   * Starts a program whose output is passed on while it runs, however much it is.
   *
   * @param input the program's standard input, if it gets any, passed on while the program runs
   */
  GuestProcess start(List<String> words, Optional<InputStream> input);

  /**
   * Starts a program on a terminal in the guest, which is joined to the caller's. Escape sequences
   * of the guest reach the caller's terminal.
   *
   * @throws IOException if the caller's terminal is gone
   */
  TerminalSession start(List<String> words, LocalTerminal terminal) throws IOException;

  /** Writes a file with these permission bits, replacing an existing one. */
  void put(InputStream content, String path, int mode) throws IOException;

  /** Reads a file. */
  void get(String path, OutputStream to) throws IOException;
}
