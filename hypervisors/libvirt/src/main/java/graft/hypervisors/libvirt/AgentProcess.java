package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A program that runs in a guest and whose output is read while it runs.
 *
 * <p>The agent itself would collect the output and send it in one message at the program's end. A
 * message of more than some MiB cannot be sent, and one of more than 10 MiB makes libvirt lose the
 * agent until the guest is stopped (libvirt 9.0). So the program writes to files in the guest,
 * which are read in chunks.
 */
public final class AgentProcess {
  /** Makes the files, and prints the name of their folder. */
  private static final String MAKE =
      "umask 077 && d=$(mktemp -d \"${TMPDIR:-/tmp}/graft-exec.XXXXXX\") && : >\"$d/out\" &&"
          + " : >\"$d/err\"%s && echo \"$d\"";

  /**
   * Becomes the program, in a session of its own so that its children can be ended with it.
   * Arguments: the folder, the program's words. The code 125 is that of graft exec.
   */
  private static final String RUN =
      "d=$1; shift; %s exec >>\"$d/out\" 2>>\"$d/err\"; command -v \"$1\" >/dev/null ||"
          + " { echo \"there is no program '$1' in the guest\" >&2; exit 125; };"
          + " command -v setsid >/dev/null && exec setsid \"$@\"; exec \"$@\"";

  /** Asks the program and its children to end, then ends them. */
  private static final String STOP =
      "kill -TERM -$1 2>/dev/null || kill -TERM $1 2>/dev/null || exit 0; sleep 1;"
          + " kill -KILL -$1 2>/dev/null || kill -KILL $1 2>/dev/null; exit 0";

  /** Removes what the program left. Argument: the folder. */
  private static final String CLEAN = AgentInput.RELEASE + " rm -rf \"$1\"";

  private static final Pattern FOLDER = Pattern.compile("/[!-~]{1,200}");
  private static final Duration CLEANING = Duration.ofSeconds(30);
  private static final long FIRST_POLL_MILLIS = 5;
  private static final long LAST_POLL_MILLIS = 200;

  /** The most chunks that are read before the program's state and the time limit are looked at. */
  private static final int CHUNKS = 8;

  /** How often a terminal's size is asked for. */
  private static final long SIZE_NANOS = 500_000_000;

  private final GuestAgent agent;
  private final AgentChannel channel;
  private final String action;
  private final String folder;
  private final long pid;
  private final Optional<AgentInput> input;
  private final Optional<AgentTerminal> terminal;
  private TerminalSize shown = TerminalSize.USUAL;
  private long asked;

  private AgentProcess(
      GuestAgent agent,
      AgentChannel channel,
      List<String> words,
      Optional<InputStream> input,
      Optional<AgentTerminal> terminal) {
    this.agent = agent;
    this.channel = channel;
    this.action = "run '" + words.get(0) + "' in";
    this.terminal = terminal;
    this.folder = folder(MAKE.formatted(input.isPresent() ? AgentInput.MAKE : ""));
    String open = input.isPresent() ? AgentInput.OPEN : "exec </dev/null;";
    List<String> arguments = new ArrayList<>(List.of("-c", RUN.formatted(open), "sh", folder));
    terminal.ifPresent(one -> shown = one.size().get());
    arguments.addAll(terminal.map(one -> one.words(folder, shown, words)).orElse(words));
    this.pid = begin(arguments);
    this.input = input.map(from -> AgentInput.begin(agent, channel, action, folder, from));
  }

  /** Starts a program whose input, if it gets any, is passed on while the program runs. */
  static AgentProcess start(
      GuestAgent agent, AgentChannel channel, List<String> words, Optional<InputStream> input) {
    return new AgentProcess(agent, channel, words, input, Optional.empty());
  }

  /** Starts a program on a terminal. */
  static AgentProcess start(
      GuestAgent agent,
      AgentChannel channel,
      List<String> words,
      InputStream input,
      AgentTerminal terminal) {
    return new AgentProcess(agent, channel, words, Optional.of(input), Optional.of(terminal));
  }

  private long begin(List<String> arguments) {
    try {
      Map<String, ?> program = Map.of("path", "/bin/sh", "arg", arguments);
      Map<?, ?> started = channel.askFields(action, "guest-exec", program, GuestAgent.PROMPT);
      return channel.number(action, started, "pid", 1, Long.MAX_VALUE);
    } catch (HypervisorException e) {
      clean();
      throw e;
    }
  }

  private String folder(String script) {
    AgentResult made = agent.exec(AgentCommand.shell(script));
    String name = made.outputText().strip();
    if (made.exitCode().orElse(-1) != 0 || !FOLDER.matcher(name).matches()) {
      throw channel.refusal(
          action,
          "no folder for its output could be made: "
              + GuestText.line(made.errorText(), AgentChannel.SHOWN));
    }
    return name;
  }

  /**
   * Passes on the program's output until the program has ended, and removes what it left in the
   * guest.
   *
   * @return its exit code, or 128 plus the number of the signal that ended it
   * @throws AgentException also if the program exceeded its time limit and was killed
   * @throws IOException if the output cannot be written, or the input cannot be read
   */
  public int await(OutputStream output, OutputStream errors, Duration timeout) throws IOException {
    long deadline = System.nanoTime() + timeout.toNanos();
    Map<?, ?> status = Map.of();
    try (AgentFile out = new AgentFile(channel, action, folder + "/out", "r");
        AgentFile err = new AgentFile(channel, action, folder + "/err", "r")) {
      long pause = FIRST_POLL_MILLIS;
      while (true) {
        // The agent forgets a process once it has said that the process has ended.
        if (!ended(status)) {
          status =
              channel.askFields(action, "guest-exec-status", Map.of("pid", pid), GuestAgent.PROMPT);
        }
        boolean more = copy(out, output);
        more |= copy(err, errors);
        if (ended(status) && !more) {
          return code(status);
        }
        if (System.nanoTime() - deadline >= 0) {
          throw overdue(timeout);
        }
        if (input.isPresent()) {
          input.get().check();
        }
        resize();
        pause = more ? FIRST_POLL_MILLIS : Math.min(LAST_POLL_MILLIS, pause + pause / 2);
        if (!more && pause(pause)) {
          pause = FIRST_POLL_MILLIS; // the answer to what was typed comes soon
        }
      }
    } finally {
      if (!ended(status)) {
        stop();
      }
      clean();
      input.ifPresent(AgentInput::close);
    }
  }

  /** Gives the guest's terminal the size that the caller's has now. */
  private void resize() {
    if (terminal.isEmpty() || System.nanoTime() - asked < SIZE_NANOS) {
      return;
    }
    TerminalSize now = terminal.get().size().get();
    if (!now.equals(shown)) {
      agent.exec(AgentTerminal.resize(folder, now));
      shown = now;
    }
    asked = System.nanoTime();
  }

  private static boolean ended(Map<?, ?> status) {
    return GuestAgent.isTrue(status, "exited");
  }

  private int code(Map<?, ?> status) {
    return status.containsKey("exitcode")
        ? (int) channel.number(action, status, "exitcode", Integer.MIN_VALUE, 0xFFFFFFFFL)
        : 128 + (int) channel.number(action, status, "signal", 0, 127);
  }

  /** Whether there may be more to read at once. */
  private static boolean copy(AgentFile from, OutputStream to) throws IOException {
    Counted counted = new Counted(to);
    from.goOn();
    boolean more = true;
    for (int i = 0; i < CHUNKS && more; i++) {
      more = from.read(counted);
    }
    to.flush();
    return counted.any;
  }

  /** Ends the program and its children. */
  public void stop() {
    try {
      agent.exec(AgentCommand.of("/bin/sh", "-c", STOP, "sh", String.valueOf(pid)));
    } catch (HypervisorException e) {
      // A guest without an answer cannot be told.
    }
  }

  private void clean() {
    try {
      agent.exec(AgentCommand.of("/bin/sh", "-c", CLEAN, "sh", folder).withTimeout(CLEANING));
    } catch (HypervisorException e) {
      // What stays is in the guest's own /tmp.
    }
  }

  private AgentException overdue(Duration timeout) {
    return channel.failure(
        action,
        "it did not end within " + timeout.toMillis() / 1000.0 + " s, and was killed",
        "allow more time, or look why it hangs");
  }

  /** Waits, and returns whether input was passed on meanwhile. */
  private boolean pause(long millis) {
    try {
      if (input.isPresent()) {
        return input.get().await(millis);
      }
      Thread.sleep(millis);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw channel.failure(action, "interrupted; the program was ended", "");
    }
  }

  /** Notes whether anything was written. */
  private static final class Counted extends FilterOutputStream {
    private boolean any;

    Counted(OutputStream to) {
      super(to);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      any |= length > 0;
      out.write(bytes, offset, length);
    }
  }
}
