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
  private static final int PIECE = 8192;

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

  /** A program ran, and what it was to get could not be read to its end. */
  public static final class BrokenInputException extends IOException {
    private static final long serialVersionUID = 1;

    BrokenInputException(IOException cause) {
      super("its input cannot be read: " + cause.getMessage(), cause);
    }
  }

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
   * Runs the program. Its input ends where this input ends; what the program has not read when it
   * ends stays where it is, or is lost.
   *
   * @throws BrokenInputException if the input could not be read to its end
   * @throws IOException if the program cannot be started
   */
  public End run(Duration limit, InputStream input, OutputStream output, OutputStream errors)
      throws IOException {
    Streams streams = new Streams(input, output, errors);
    DefaultExecutor executor = executor(limit, streams);
    executor.setExitValues(null); // accepts every exit code
    int code = executor.execute(command, environment);
    streams.requireWholeInput();
    return new End(code, executor.getWatchdog().killedProcess());
  }

  /**
   * The streams of a program. The library's own thread for input never tells a program that
   * standard input has ended, and waits for any other input after the program has ended.
   */
  private static final class Streams extends PumpStreamHandler {
    private final InputStream input;
    private final Object lock = new Object(); // of the fields below
    private OutputStream program;
    private boolean ended;
    private IOException broken;

    Streams(InputStream input, OutputStream output, OutputStream errors) {
      super(output, errors);
      this.input = input;
    }

    @Override
    public void setProcessInputStream(OutputStream given) {
      synchronized (lock) {
        program = given;
      }
      Thread thread = new Thread(this::copy, "input of a program");
      thread.setDaemon(true); // it may wait for standard input when all else has ended
      thread.start();
    }

    private void copy() {
      byte[] piece = new byte[PIECE];
      int count = read(piece);
      while (count > 0 && write(piece, count)) {
        count = read(piece);
      }
      end();
    }

    /** Writes to the program; false if that has ended, or has closed its input. */
    private boolean write(byte[] piece, int count) {
      synchronized (lock) {
        try {
          if (!ended) {
            program.write(piece, 0, count);
            program.flush();
          }
          return !ended;
        } catch (IOException e) {
          return false;
        }
      }
    }

    /**
     * Closes the program's input. The library closes it after the program's end, and fails if there
     * is something left to write then.
     */
    private void end() {
      synchronized (lock) {
        ended = true;
        try {
          program.close();
        } catch (IOException e) {
          // the program has not read all
        }
      }
    }

    @Override
    public void stop() throws IOException {
      end();
      super.stop();
    }

    private int read(byte[] piece) {
      try {
        return input.read(piece);
      } catch (IOException e) {
        synchronized (lock) {
          broken = ended ? null : e; // after the program's end nobody misses it
        }
        return -1;
      }
    }

    void requireWholeInput() throws BrokenInputException {
      synchronized (lock) {
        if (broken != null) {
          throw new BrokenInputException(broken);
        }
      }
    }
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
