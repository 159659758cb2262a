package graft.common.program;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.commons.exec.CommandLine;
import org.apache.commons.exec.DefaultExecutor;
import org.apache.commons.exec.ExecuteStreamHandler;
import org.apache.commons.exec.ExecuteWatchdog;
import org.apache.commons.exec.PumpStreamHandler;

/** Runs a program of this host to its end and kills the program if it exceeds its time limit. */
public final class HostProgram {
  private final CommandLine command;
  private final Map<String, String> environment;

  private HostProgram(CommandLine command, Map<String, String> environment) {
    this.command = command;
    this.environment = environment;
  }

  /**
   * How a program ended.
   *
   * @param code the exit code
   * @param late whether the program was killed because it exceeded its time limit
   */
  public record End(int code, boolean late) {}

  /** Creates a program that is found as a shell finds it. The arguments are passed unchanged. */
  public static HostProgram of(String program, List<String> arguments) {
    CommandLine command = new CommandLine(program);
    command.addArguments(arguments.toArray(String[]::new), false);
    return new HostProgram(command, null);
  }

  /**
   * A copy whose environment consists of these variables only, without the variables of this
   * process.
   */
  public HostProgram with(Map<String, String> variables) {
    return new HostProgram(command, variables);
  }

  /** Whether a folder of {@code PATH} contains the program. */
  public static boolean isThere(String program, Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /**
   * Runs the program.
   *
   * @throws IOException if the program cannot be started
   */
  public End run(Duration limit, InputStream input, OutputStream output, OutputStream errors)
      throws IOException {
    DefaultExecutor executor = executor(limit, new PumpStreamHandler(output, errors, input));
    executor.setExitValues(null); // accepts every exit code
    int code = executor.execute(command, environment);
    return new End(code, executor.getWatchdog().killedProcess());
  }

  /**
   * Runs the program and writes its output to {@code output}.
   *
   * @throws IOException if the program cannot be started, fails or exceeds the time limit
   */
  public void succeed(Duration limit, OutputStream output) throws IOException {
    executor(limit, new PumpStreamHandler(output)).execute(command, environment);
  }

  /**
   * Runs the program and returns its output.
   *
   * @throws IOException as {@link #succeed}, with the program's output in the message
   */
  public String output(Duration limit) throws IOException {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    try {
      succeed(limit, output);
      return output.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      String said = output.toString(StandardCharsets.UTF_8);
      throw new IOException((said + " " + e.getMessage()).strip(), e);
    }
  }

  private static DefaultExecutor executor(Duration limit, ExecuteStreamHandler streams) {
    DefaultExecutor executor = DefaultExecutor.builder().get();
    executor.setStreamHandler(streams);
    executor.setWatchdog(ExecuteWatchdog.builder().setTimeout(limit).get());
    return executor;
  }
}
