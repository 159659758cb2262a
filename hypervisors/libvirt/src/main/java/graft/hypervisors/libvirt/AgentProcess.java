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
      "umask 077 && d=$(mktemp -d \"${TMPDIR:-/tmp}/graft-exec.XXXXXX\") && : >\"$d/in\" &&"
          + " : >\"$d/out\" && : >\"$d/err\" && echo \"$d\"";

  /**
   * Becomes the program, in a session of its own so that its children can be ended with it.
   * Arguments: the folder, the program's words. The code 125 is that of graft exec.
   */
  private static final String RUN =
      "d=$1; shift; exec <\"$d/in\" >>\"$d/out\" 2>>\"$d/err\"; command -v \"$1\" >/dev/null ||"
          + " { echo \"there is no program '$1' in the guest\" >&2; exit 125; };"
          + " command -v setsid >/dev/null && exec setsid \"$@\"; exec \"$@\"";

  /** Asks the program and its children to end, then ends them. */
  private static final String STOP =
      "kill -TERM -$1 2>/dev/null || kill -TERM $1 2>/dev/null || exit 0; sleep 1;"
          + " kill -KILL -$1 2>/dev/null || kill -KILL $1 2>/dev/null; exit 0";

  private static final Pattern FOLDER = Pattern.compile("/[!-~]{1,200}");
  private static final Duration CLEANING = Duration.ofSeconds(30);
  private static final long FIRST_POLL_MILLIS = 5;
  private static final long LAST_POLL_MILLIS = 200;

  /** The most chunks that are read before the program's state and the time limit are looked at. */
  private static final int CHUNKS = 8;

  private final GuestAgent agent;
  private final AgentChannel channel;
  private final String action;
  private final String folder;
  private final long pid;

  private AgentProcess(
      GuestAgent agent, AgentChannel channel, String action, String folder, long pid) {
    this.agent = agent;
    this.channel = channel;
    this.action = action;
    this.folder = folder;
    this.pid = pid;
  }

  static AgentProcess start(
      GuestAgent agent, AgentChannel channel, List<String> words, InputStream input)
      throws IOException {
    String action = "run '" + words.get(0) + "' in";
    AgentResult made = agent.exec(AgentCommand.shell(MAKE));
    String folder = made.outputText().strip();
    if (made.exitCode().orElse(-1) != 0 || !FOLDER.matcher(folder).matches()) {
      throw channel.refusal(
          action,
          "no folder for its output could be made: "
              + GuestText.line(made.errorText(), AgentChannel.SHOWN));
    }
    int first = input.read();
    if (first >= 0) {
      try (AgentFile file = new AgentFile(channel, action, folder + "/in", "w")) {
        file.write(new byte[] {(byte) first});
        byte[] piece = input.readNBytes(AgentChannel.MAX_PAYLOAD);
        while (piece.length > 0) {
          file.write(piece);
          piece = input.readNBytes(AgentChannel.MAX_PAYLOAD);
        }
      }
    }
    List<String> arguments = new ArrayList<>(List.of("-c", RUN, "sh", folder));
    arguments.addAll(words);
    Map<?, ?> started =
        channel.askFields(
            action, "guest-exec", Map.of("path", "/bin/sh", "arg", arguments), GuestAgent.PROMPT);
    long pid = channel.number(action, started, "pid", 1, Long.MAX_VALUE);
    return new AgentProcess(agent, channel, action, folder, pid);
  }

  /**
   * Passes on the program's output until the program has ended, and removes what it left in the
   * guest.
   *
   * @return its exit code, or 128 plus the number of the signal that ended it
   * @throws AgentException also if the program exceeded its time limit and was killed
   * @throws IOException if the output cannot be written
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
        pause = more ? FIRST_POLL_MILLIS : Math.min(LAST_POLL_MILLIS, pause + pause / 2);
        if (!more) {
          pause(pause);
        }
      }
    } finally {
      if (!ended(status)) {
        stop();
      }
      clean();
    }
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
      agent.exec(AgentCommand.of("rm", "-rf", folder).withTimeout(CLEANING));
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

  private void pause(long millis) {
    try {
      Thread.sleep(millis);
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
