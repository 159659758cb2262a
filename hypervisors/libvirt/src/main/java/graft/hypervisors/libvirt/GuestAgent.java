package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The QEMU guest agent of one guest. Every method throws {@link AgentException}: {@linkplain
 * AgentException#unresponsive unresponsive} if no agent replies, {@linkplain AgentException#late
 * late} if a program did not end in time, else with the agent's refusal.
 */
public final class GuestAgent {

  /**
   * The time limit of requests that the agent answers without waiting; an emulated guest may be
   * slow.
   */
  static final Duration PROMPT = Duration.ofSeconds(30);

  /** Exit codes of Windows are unsigned 32-bit numbers. */
  private static final long MAX_CODE = 0xFFFFFFFFL;

  private static final long FIRST_POLL_MILLIS = 5;
  private static final long LAST_POLL_MILLIS = 200;

  private final String guest;
  private final AgentChannel channel;

  GuestAgent(Guest guest) {
    this(guest.toString(), AgentChannel.of(guest));
  }

  /**
   * Creates an agent that is reached through a line.
   *
   * @param guest the guest's name, for messages
   */
  public GuestAgent(String guest, AgentLine line) {
    this.guest = guest;
    this.channel = new AgentChannel(guest, line);
  }

  /**
   * Whether an agent replies within the time limit; false while the guest boots.
   *
   * @throws HypervisorException if waiting would not help: the guest is off, or has no channel for
   *     an agent
   */
  public boolean ping(Duration timeout) {
    try {
      channel.ask("ping the agent of", "guest-ping", Map.of(), timeout);
      return true;
    } catch (AgentException e) {
      if (e.unresponsive()) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Runs a program and waits for its end.
   *
   * @throws AgentException also if the program exceeded its time limit and was killed
   */
  public AgentResult exec(AgentCommand command) {
    String action = "run '" + command.line() + "' in";
    Map<String, Object> arguments = new LinkedHashMap<>();
    arguments.put("path", command.program());
    arguments.put("arg", command.arguments());
    if (!command.environment().isEmpty()) {
      arguments.put(
          "env",
          command.environment().entrySet().stream()
              .map(variable -> variable.getKey() + "=" + variable.getValue())
              .toList());
    }
    command
        .input()
        .ifPresent(bytes -> arguments.put("input-data", Base64.getEncoder().encodeToString(bytes)));
    arguments.put("capture-output", true);
    long deadline = System.nanoTime() + command.timeout().toNanos();
    Map<?, ?> started = channel.askFields(action, "guest-exec", arguments, PROMPT);
    long pid = channel.number(action, started, "pid", 1, Long.MAX_VALUE);
    return await(action, pid, deadline, command.timeout());
  }

  private AgentResult await(String action, long pid, long deadline, Duration timeout) {
    long pause = FIRST_POLL_MILLIS;
    while (true) {
      Map<?, ?> status = channel.askFields(action, "guest-exec-status", Map.of("pid", pid), PROMPT);
      if (!(status.get("exited") instanceof Boolean exited)) {
        throw channel.refusal(action, "the agent does not say whether it has ended");
      }
      if (exited) {
        return result(action, status);
      }
      if (System.nanoTime() - deadline >= 0) {
        throw overdue(action, pid, timeout);
      }
      pause(action, pid, pause);
      pause = Math.min(LAST_POLL_MILLIS, pause + pause / 2);
    }
  }

  private AgentResult result(String action, Map<?, ?> status) {
    return new AgentResult(
        code(action, status, "exitcode"),
        code(action, status, "signal"),
        channel.bytes(action, status, "out-data"),
        channel.bytes(action, status, "err-data"),
        isTrue(status, "out-truncated") || isTrue(status, "err-truncated"));
  }

  static boolean isTrue(Map<?, ?> answer, String field) {
    return Boolean.TRUE.equals(answer.get(field));
  }

  private OptionalInt code(String action, Map<?, ?> status, String field) {
    return status.containsKey(field)
        ? OptionalInt.of((int) channel.number(action, status, field, Integer.MIN_VALUE, MAX_CODE))
        : OptionalInt.empty();
  }

  private AgentException overdue(String action, long pid, Duration timeout) {
    String end = kill(pid) ? "it was killed" : "it could not be killed and may still run";
    return AgentException.late(
        action,
        guest,
        "it did not end within " + timeout.toMillis() / 1000.0 + " s; " + end,
        "allow more time, or look why it hangs");
  }

  private boolean kill(long pid) {
    try {
      Map<String, ?> arguments = Map.of("path", "kill", "arg", List.of("-9", Long.toString(pid)));
      channel.ask("end process " + pid + " in", "guest-exec", arguments, PROMPT);
      return true;
    } catch (HypervisorException e) {
      return false;
    }
  }

  private void pause(String action, long pid, long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HypervisorException(
          action,
          guest,
          "interrupted; the program continues as process " + pid,
          "end it in the guest if it should not",
          e);
    }
  }

  /**
   * Writes a file or replaces an existing one. The agent's umask determines the mode of a new file.
   */
  public void writeFile(String path, byte[] content) {
    try {
      writeFile(path, new ByteArrayInputStream(content));
    } catch (IOException e) {
      throw new AssertionError("an array cannot fail to be read", e);
    }
  }

  /**
   * Writes a file in chunks or replaces an existing one. The agent's umask determines the mode of a
   * new file.
   *
   * @throws IOException if {@code content} cannot be read
   */
  public void writeFile(String path, InputStream content) throws IOException {
    String action = "write '" + path + "' in";
    try (AgentFile file = new AgentFile(channel, action, path, "w")) {
      byte[] piece = content.readNBytes(AgentChannel.MAX_PAYLOAD);
      while (piece.length > 0) {
        file.write(piece);
        piece = content.readNBytes(AgentChannel.MAX_PAYLOAD);
      }
    }
  }

  /** The whole content of a file. For large files use {@link #readFile(String, OutputStream)}. */
  public byte[] readFile(String path) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    try {
      readFile(path, content);
    } catch (IOException e) {
      throw new AssertionError("an array cannot fail to be written", e);
    }
    return content.toByteArray();
  }

  /**
   * Copies a file in chunks.
   *
   * @throws IOException if {@code to} cannot be written
   */
  public void readFile(String path, OutputStream to) throws IOException {
    String action = "read '" + path + "' in";
    try (AgentFile file = new AgentFile(channel, action, path, "r")) {
      while (file.read(to)) {
        // Continue with the next chunk.
      }
    }
  }

  /**
   * Starts a program whose output is read while it runs, however much it is. The guest keeps the
   * output in its {@code /tmp} until the program has ended.
   *
   * @param input its standard input, if it gets any, which is passed on while the program runs
   */
  public AgentProcess start(List<String> words, Optional<InputStream> input) {
    return AgentProcess.start(this, channel, words, input);
  }

  /**
   * Starts a program on a terminal. The guest keeps what the terminal shows in its {@code /tmp}
   * until the program has ended.
   *
   * @param input what is typed, which is passed on while the program runs
   */
  public AgentProcess start(List<String> words, InputStream input, AgentTerminal terminal) {
    return AgentProcess.start(this, channel, words, input, terminal);
  }
}
