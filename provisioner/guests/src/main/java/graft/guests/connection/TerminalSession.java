package graft.guests.connection;

import java.io.IOException;
import java.time.Duration;

/** A program on a terminal of a guest, joined to the caller's terminal. */
public interface TerminalSession {
  /**
   * Passes on what is typed and what is shown until the program has ended.
   *
   * @return its exit code, or 128 plus the number of the signal that ended it
   * @throws GuestConnectionException if the guest does not answer, or the program did not end in
   *     time and was ended
   * @throws IOException if the caller's terminal is gone; the program is ended
   */
  int await(Duration timeout) throws IOException;

  /** Ends the program, while another thread waits for it. */
  void stop();
}
