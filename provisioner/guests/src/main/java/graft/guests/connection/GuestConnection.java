package graft.guests.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;

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
   * @param input the program's standard input; the agent reads it to its end first
   * @throws IOException if the input cannot be read
   */
  GuestProcess start(List<String> words, InputStream input) throws IOException;

  /** Writes a file with these permission bits, replacing an existing one. */
  void put(InputStream content, String path, int mode) throws IOException;

  /** Reads a file. */
  void get(String path, OutputStream to) throws IOException;
}
