package graft.guests.connection;

import graft.hypervisors.libvirt.calls.GuestText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The exit code and the output of a program.
 *
 * @param code the exit code, or 128 plus the number of the signal that ended the program
 * @param truncated whether the program wrote more than the output contains
 */
public record Ended(
    int code, ByteArrayOutputStream output, ByteArrayOutputStream errorOutput, boolean truncated) {

  /** The maximum number of characters of the output in a message. */
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

  /** The end of the output for messages, with control characters made visible. */
  public String said() {
    String all = (outputText() + errorText()).strip();
    return GuestText.printable(all.substring(Math.max(0, all.length() - SAID)));
  }
}
