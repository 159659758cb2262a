package graft.hypervisors.libvirt;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/** The exit code and the output of a program in a guest. */
public final class AgentResult {

  private final OptionalInt exitCode;
  private final OptionalInt signal;
  private final byte[] output;
  private final byte[] errorOutput;
  private final boolean truncated;

  AgentResult(
      OptionalInt exitCode,
      OptionalInt signal,
      byte[] output,
      byte[] errorOutput,
      boolean truncated) {
    this.exitCode = exitCode;
    this.signal = signal;
    this.output = output;
    this.errorOutput = errorOutput;
    this.truncated = truncated;
  }

  /** The exit code; absent if a signal ended the program. */
  public OptionalInt exitCode() {
    return exitCode;
  }

  /** The signal that ended the program; absent if the program exited. */
  public OptionalInt signal() {
    return signal;
  }

  public boolean succeeded() {
    return exitCode.isPresent() && exitCode.getAsInt() == 0;
  }

  /** Standard output. */
  public byte[] output() {
    return output.clone();
  }

  /** Standard error. */
  public byte[] errorOutput() {
    return errorOutput.clone();
  }

  /** Standard output as UTF-8. */
  public String outputText() {
    return new String(output, StandardCharsets.UTF_8);
  }

  /** Standard error as UTF-8. */
  public String errorText() {
    return new String(errorOutput, StandardCharsets.UTF_8);
  }

  /** Whether the program wrote more output than the agent keeps, which is 16 MiB of each stream. */
  public boolean truncated() {
    return truncated;
  }

  /** The exit code or the signal, and the end of the error output, for messages. */
  @Override
  public String toString() {
    String end =
        exitCode.isPresent()
            ? "exit code " + exitCode.getAsInt()
            : signal.isPresent() ? "signal " + signal.getAsInt() : "unknown end";
    String error = errorText().strip();
    return error.isEmpty() ? end : end + ": " + error;
  }
}
