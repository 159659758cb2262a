package graft.provisioner.reach;

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

  public boolean succeeded() {
    return code == 0;
  }

  public String outputText() {
    return output.toString(StandardCharsets.UTF_8);
  }

  public String errorText() {
    return errorOutput.toString(StandardCharsets.UTF_8);
  }

  /** All that it said, for messages. */
  public String said() {
    return (outputText() + errorText()).strip();
  }
}
