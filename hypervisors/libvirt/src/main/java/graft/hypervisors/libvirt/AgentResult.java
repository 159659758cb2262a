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

  /** Absent when a signal ended the program. */
  public OptionalInt exitCode() {
    return exitCode;
  }

  /** Absent when the program exited. */
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

  /** Whether the program wrote more than the agent keeps, 16 MiB on each stream. */
  public boolean truncated() {
    return truncated;
  }

  /** Exit code or signal, and the end of what went wrong, for messages. */
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
