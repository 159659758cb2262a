package graft.guests.connection;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;

/** A program that runs in a guest. */
public interface GuestProcess {
  /**
   * Passes on the program's output until the program has ended.
   *
   * @return its exit code, or 128 plus the number of the signal that ended it
   * @throws GuestConnectionException if the guest does not answer, or the program did not end in
   *     time and was ended
   * @throws IOException if the output cannot be written; the program is ended
   */
  int await(OutputStream output, OutputStream errors, Duration timeout) throws IOException;

  /** Ends the program, while another thread waits for it. */
  void stop();
}
