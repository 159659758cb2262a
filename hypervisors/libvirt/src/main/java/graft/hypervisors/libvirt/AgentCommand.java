package graft.hypervisors.libvirt;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A program that a guest's agent runs, without a shell and as the agent's user, usually root.
 *
 * @param program a path in the guest, or a name that is looked up in the agent's PATH
 * @param arguments without the program's name
 * @param environment the whole environment including PATH; if empty, the agent's environment
 * @param input the program's standard input; at most {@link #MAX_INPUT} bytes
 * @param timeout the time after which the program is killed
 */
public record AgentCommand(
    String program,
    List<String> arguments,
    SortedMap<String, String> environment,
    Optional<byte[]> input,
    Duration timeout) {

  /**
   * The maximum size of the input, which is sent in one message: see {@link
   * AgentChannel#MAX_PAYLOAD}.
   */
  public static final int MAX_INPUT = AgentChannel.MAX_PAYLOAD;

  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

  public AgentCommand {
    arguments = List.copyOf(arguments);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    input.ifPresent(
        bytes -> {
          if (bytes.length > MAX_INPUT) {
            throw new IllegalArgumentException(
                bytes.length
                    + " bytes of input for "
                    + program
                    + " do not fit into one message ("
                    + MAX_INPUT
                    + "): write a file first");
          }
        });
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("the time limit of " + program + " must be positive");
    }
  }

  /** A program with arguments, the agent's environment, no input and a timeout of 30 seconds. */
  public static AgentCommand of(String program, String... arguments) {
    return new AgentCommand(
        program,
        List.of(arguments),
        Collections.emptySortedMap(),
        Optional.empty(),
        DEFAULT_TIMEOUT);
  }

  /**
   * A command line for the guest's {@code /bin/sh}, with the agent's environment, no input and a
   * timeout of 30 seconds.
   */
  public static AgentCommand shell(String line) {
    return of("/bin/sh", "-c", line);
  }

  public AgentCommand withEnvironment(Map<String, String> value) {
    return new AgentCommand(program, arguments, new TreeMap<>(value), input, timeout);
  }

  public AgentCommand withInput(byte[] value) {
    return new AgentCommand(program, arguments, environment, Optional.of(value.clone()), timeout);
  }

  public AgentCommand withTimeout(Duration value) {
    return new AgentCommand(program, arguments, environment, input, value);
  }

  /** The program and its arguments on one line, for messages. */
  public String line() {
    List<String> words = new ArrayList<>();
    words.add(program);
    words.addAll(arguments);
    return String.join(" ", words);
  }
}
