package graft.guests.connection;

import graft.hypervisors.libvirt.calls.GuestText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * How a program ended, and what it wrote.
 *
 * @param code its exit code, or 128 and the number of the signal that ended it
 * @param truncated whether it wrote more than is here
 */
public record Ended(
    int code, ByteArrayOutputStream output, ByteArrayOutputStream errorOutput, boolean truncated) {

  /** How many characters of it stand in a message at most. */
  private static final int SAID = 16 * 1024;

  public boolean succeeded() {
    return code == 0;
  }

  public String outputText() {
    return output.toString(StandardCharsets.UTF_8);
  }

  public String errorText() {
    return errorOutput.toString(StandardCharsets.UTF_8);
  }

  /** The end of all that it said, for messages: fit for a terminal, whatever the guest wrote. */
  public String said() {
    String all = (outputText() + errorText()).strip();
    return GuestText.printable(all.substring(Math.max(0, all.length() - SAID)));
  }
}
