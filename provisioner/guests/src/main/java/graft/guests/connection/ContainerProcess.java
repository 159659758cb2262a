package graft.guests.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A program in a container, started by nsenter(1) from the host. */
final class ContainerProcess {
  private static final Path PROC = Path.of("/proc");

  /**
   * Moves to the container's cgroups, so that the container's limits hold for the program, before
   * it enters the namespaces. The words are the number of files, the files, and nsenter's, which
   * begin with {@code --target} and the number of the container's first process.
   *
   * <p>Another process of the host may have got that number meanwhile: a process in the host's user
   * namespace is no container's.
   */
  private static final String MOVE =
      "n=$1; shift; while [ \"$n\" -gt 0 ]; do echo $$ >\"$1\" || exit 125; shift; n=$((n - 1));"
          + " done; [ \"/proc/$2/ns/user\" -ef /proc/self/ns/user ] && exit 125;";

  static final String ENTER_ON_TERMINAL = MOVE + " exec nsenter \"$@\"";

  /** The same in a session of its own, which keeps the caller's terminal from the container. */
  static final String ENTER = MOVE + " exec setsid --wait nsenter \"$@\"";

  /**
   * Runs a command line in the container on a terminal of the container's own. The terminal that
   * the host made would not do: Ctrl-C there would end nsenter, too.
   */
  private static final String ON_TERMINAL =
      "script --version 2>/dev/null | grep -q util-linux || { echo \"a terminal needs script(1) of"
          + " util-linux in the container; install it there (Debian: bsdutils), or leave out -t\" >&2;"
          + " exit 125; }; exec script -q -e -c \"exec $1\" /dev/null";

  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          "HOME", "/root",
          "USER", "root",
          "LANG", "C.UTF-8");

  /** How long output may come after the program has ended. */
  private static final Duration LEFT_OVER = Duration.ofSeconds(2);

  private final Process process;
  private Pump in;
  private Pump out;
  private boolean complete;

  ContainerProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts a program.
   *
   * @param controller the number of libvirt's process that holds the container
   * @throws IOException if the container has ended
   */
  static ContainerProcess start(int controller, List<String> words) throws IOException {
    return new ContainerProcess(program(command(controller, ENTER, words), Map.of()).start());
  }

  /**
   * A program on a terminal. script(1) of the host makes another one between it and the caller's,
   * in which programs of the container could type.
   *
   * @throws IOException if the container has ended
   */
  static ProcessBuilder onTerminal(int controller, List<String> words) throws IOException {
    List<String> there = List.of("/bin/sh", "-c", ON_TERMINAL, "sh", line(words));
    String entering = line(command(controller, ENTER_ON_TERMINAL, there));
    return program(
        List.of("script", "-q", "-e", "-c", entering, "/dev/null"),
        Map.of("TERM", LocalTerminal.type(System.getenv()), "SHELL", "/bin/sh"));
  }

  private static String line(List<String> words) {
    return words.stream().map(SshOptions::quoted).collect(Collectors.joining(" "));
  }

  private static ProcessBuilder program(List<String> command, Map<String, String> more) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(ENVIRONMENT);
    builder.environment().putAll(more);
    return builder;
  }

  private static List<String> command(int controller, String enter, List<String> words)
      throws IOException {
    long init = init(controller).orElseThrow(() -> new IOException("its first process has ended"));
    List<String> cgroups = Cgroups.of(init, PROC);
    List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", enter, "sh"));
    command.add(String.valueOf(cgroups.size()));
    command.addAll(cgroups);
    command.addAll(
        List.of("--target", String.valueOf(init), "--all", "--setuid", "0", "--setgid", "0", "--"));
    command.addAll(words);
    return command;
  }

  /**
   * The container's first process: the child of libvirt's process that is number 1 in a process
   * namespace of its own.
   *
   * @param controller the number of libvirt's process that holds the container
   * @return empty if it has ended
   */
  static OptionalLong init(int controller) {
    List<ProcessHandle> children =
        ProcessHandle.of(controller).map(handle -> handle.children().toList()).orElse(List.of());
    return children.stream()
        .mapToLong(ProcessHandle::pid)
        .filter(ContainerProcess::isFirst)
        .findFirst();
  }

  private static boolean isFirst(long process) {
    try {
      for (String line : Files.readAllLines(PROC.resolve(process + "/status"))) {
        // "NSpid:", the number here, the numbers in the namespaces within
        String[] numbers = line.split("\\s+", -1);
        if (numbers[0].equals("NSpid:")) {
          return numbers.length > 2 && numbers[numbers.length - 1].equals("1");
        }
      }
      return false;
    } catch (IOException e) {
      return false; // it has just ended
    }
  }

  /**
   * Passes input and output on until the program has ended.
   *
   * @return the exit code; empty if it did not end in time, and was ended
   */
  OptionalInt finish(InputStream input, OutputStream output, OutputStream errors, Duration timeout)
      throws InterruptedException {
    OutputStream words = process.getOutputStream();
    in = new Pump(input, words, words, () -> {});
    out = new Pump(process.getInputStream(), output, process.getInputStream(), this::stop);
    Pump err = new Pump(process.getErrorStream(), errors, process.getErrorStream(), this::stop);
    in.start();
    out.start();
    err.start();
    boolean ended = process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    if (!ended) {
      stop();
    }
    // A program that it left in the background may hold the pipes open.
    out.join(LEFT_OVER.toMillis());
    err.join(LEFT_OVER.toMillis());
    complete = !out.isAlive();
    Pump.close(process.getInputStream());
    Pump.close(process.getErrorStream());
    // The third stream belongs to its pump: a program in the background that does not read would
    // keep a second thread from closing it.
    return ended ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
  }

  /**
   * Checks, once it has finished, that its input was read to the end.
   *
   * @throws IOException why it was not
   */
  void checkInput() throws IOException {
    in.checkReading();
  }

  /**
   * Checks, once it has finished, that what it said could be written.
   *
   * @throws IOException why it could not
   */
  void checkOutput() throws IOException {
    out.checkWriting();
  }

  /**
   * Checks, once it has finished, that all that it said was written.
   *
   * @throws IOException why it was not
   */
  void checkWholeOutput() throws IOException {
    checkOutput();
    if (!complete) {
      throw new IOException("its output was not written within " + LEFT_OVER.toSeconds() + " s");
    }
  }

  /** Ends the program: nsenter's child is in the container, and does not end with nsenter. */
  void stop() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
