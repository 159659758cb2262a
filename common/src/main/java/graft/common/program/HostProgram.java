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

/** A program of this host, run to its end and killed if that takes too long. */
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
   * @param code its exit code
   * @param late whether it was killed because it took too long
   */
  public record End(int code, boolean late) {}

  /** A program, looked for as a shell does, with these arguments as they are. */
  public static HostProgram of(String program, List<String> arguments) {
    CommandLine command = new CommandLine(program);
    command.addArguments(arguments.toArray(String[]::new), false);
    return new HostProgram(command, null);
  }

  /** The same with just these variables, in place of this process's own. */
  public HostProgram with(Map<String, String> variables) {
    return new HostProgram(command, variables);
  }

  /** Whether a program is in a folder of {@code PATH}. */
  public static boolean isThere(String program, Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /**
   * Runs it.
   *
   * @throws IOException if it cannot be started
   */
  public End run(Duration limit, InputStream input, OutputStream output, OutputStream errors)
      throws IOException {
    DefaultExecutor executor = executor(limit, new PumpStreamHandler(output, errors, input));
    executor.setExitValues(null); // any
    int code = executor.execute(command, environment);
    return new End(code, executor.getWatchdog().killedProcess());
  }

  /**
   * Runs it with its output going to {@code output}.
   *
   * @throws IOException if it cannot be started, fails or is late
   */
  public void succeed(Duration limit, OutputStream output) throws IOException {
    executor(limit, new PumpStreamHandler(output)).execute(command, environment);
  }

  /**
   * Runs it and returns its output.
   *
   * @throws IOException as {@link #succeed}, with its output in the message
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
