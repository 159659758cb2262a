package graft.hypervisors.libvirt;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** A file that the agent has open. */
final class AgentFile implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The size of a read; its Base64 form fits well into one libvirt message of 4 MiB. */
  private static final int READ_CHUNK = 1024 * 1024;

  /** The value of {@code whence} for an offset from the present position. */
  private static final int FROM_HERE = 1;

  private final AgentChannel channel;
  private final String action;
  private final long handle;

  /**
   * Opens a file.
   *
   * @param action for messages
   * @param mode of fopen(3)
   */
  AgentFile(AgentChannel channel, String action, String path, String mode) {
    this.channel = channel;
    this.action = action;
    Map<String, ?> arguments = Map.of("path", path, "mode", mode);
    if (!(channel.ask(action, "guest-file-open", arguments, GuestAgent.PROMPT)
        instanceof Long opened)) {
      throw channel.refusal(action, "the agent gave no number for the open file");
    }
    this.handle = opened;
  }

  void write(byte[] piece) {
    int done = 0;
    while (done < piece.length) {
      byte[] rest = Arrays.copyOfRange(piece, done, piece.length);
      Map<String, ?> arguments =
          Map.of("handle", handle, "buf-b64", Base64.getEncoder().encodeToString(rest));
      Map<?, ?> written = channel.askFields(action, "guest-file-write", arguments, LIMIT);
      done += (int) channel.number(action, written, "count", 1, rest.length);
    }
  }

  /** Copies one chunk; false after the last chunk. */
  boolean read(OutputStream to) throws IOException {
    Map<String, ?> arguments = Map.of("handle", handle, "count", READ_CHUNK);
    Map<?, ?> piece = channel.askFields(action, "guest-file-read", arguments, LIMIT);
    byte[] content = channel.bytes(action, piece, "buf-b64");
    to.write(content);
    return !GuestAgent.isTrue(piece, "eof") && content.length > 0;
  }

  /**
   * Prepares for reading what the file has got since its end was reached: the agent's C library
   * keeps the end of a file in mind until the position is set.
   */
  void goOn() {
    Map<String, ?> arguments = Map.of("handle", handle, "offset", 0, "whence", FROM_HERE);
    channel.ask(action, "guest-file-seek", arguments, LIMIT);
  }

  @Override
  public void close() {
    channel.ask(action, "guest-file-close", Map.of("handle", handle), LIMIT);
  }
}
