package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The standard input of a program in a guest, passed on while the program runs, by a thread of its
 * own. It goes through a pipe in the guest, piece by piece. A program in the guest writes each
 * piece into the pipe, and waits as long as the pipe is full: one piece of at most 128 KiB is on
 * its way.
 *
 * <p>The agent's own functions for files cannot write to a pipe: what a full pipe does not take is
 * lost.
 */
final class AgentInput {
  /**
   * Makes the pipe in the folder {@code $d}, and a process that keeps the pipe open between two
   * pieces, until the input ends or the folder is gone.
   */
  static final String MAKE =
      " && mkfifo \"$d/in\" && { ( exec 3<>\"$d/in\"; while [ -d \"$d\" ]; do sleep 2 3>&-; done )"
          + " </dev/null >/dev/null 2>&1 & echo $! >\"$d/holder\"; }";

  /** Opens the pipe, in the program's shell, and notes that it is open. */
  static final String OPEN = "exec <\"$d/in\"; : >\"$d/ready\";";

  /** Closes the pipe. Argument: the folder. */
  static final String RELEASE =
      "[ -e \"$1/holder\" ] && kill \"$(cat \"$1/holder\")\" && rm \"$1/holder\";";

  private static final String WRITE = "exec cat >\"$1/in\"";

  /** Waits until the program has opened the pipe: what is in a pipe is lost with its last user. */
  private static final String END =
      "until [ -e \"$1/ready\" ] || [ ! -d \"$1\" ]; do sleep 0.1 || sleep 1; done; " + RELEASE;

  /** How long a program may let a piece wait. */
  private static final Duration PATIENCE = Duration.ofDays(3650);

  private final GuestAgent agent;
  private final AgentChannel channel;
  private final String action;
  private final String folder;
  private final InputStream input;
  private final Semaphore passedOn = new Semaphore(0);
  private final Object asking = new Object();
  private final Thread thread = new Thread(this::run, "graft-agent-input");
  private volatile boolean closed;
  private volatile IOException unreadable;
  private volatile HypervisorException unwritable;

  private AgentInput(
      GuestAgent agent, AgentChannel channel, String action, String folder, InputStream input) {
    this.agent = agent;
    this.channel = channel;
    this.action = action;
    this.folder = folder;
    this.input = input;
  }

  /** Begins to pass on the input to the pipe in the folder. */
  static AgentInput begin(
      GuestAgent agent, AgentChannel channel, String action, String folder, InputStream input) {
    AgentInput begun = new AgentInput(agent, channel, action, folder, input);
    begun.thread.setDaemon(true); // it may wait for the caller's terminal for ever
    begun.thread.start();
    return begun;
  }

  private void run() {
    byte[] buffer = new byte[AgentChannel.MAX_PAYLOAD];
    try {
      int count = input.read(buffer);
      while (count >= 0 && (count == 0 || succeeds(WRITE, Arrays.copyOf(buffer, count)))) {
        passedOn.release();
        count = input.read(buffer);
      }
      if (count < 0) {
        succeeds(END, new byte[0]);
      }
    } catch (IOException e) {
      unreadable = e;
    } catch (HypervisorException e) {
      unwritable = e;
    }
    passedOn.release();
  }

  /** Runs a script with the folder in the guest; false if nobody needs the input any more. */
  private boolean succeeds(String script, byte[] piece) {
    synchronized (asking) {
      if (closed) {
        return false;
      }
      AgentCommand command = AgentCommand.of("/bin/sh", "-c", script, "sh", folder);
      AgentResult ended =
          agent.exec(
              (piece.length == 0 ? command : command.withInput(piece)).withTimeout(PATIENCE));
      if (piece.length > 0 && ended.exitCode().orElse(-1) != 0) {
        throw channel.refusal(
            action,
            "its input could not be passed on: "
                + GuestText.line(ended.errorText(), AgentChannel.SHOWN));
      }
      return true;
    }
  }

  /**
   * Waits until something was passed on.
   *
   * @return whether something was, in that time
   */
  boolean await(long millis) throws InterruptedException {
    boolean any = passedOn.tryAcquire(millis, TimeUnit.MILLISECONDS);
    passedOn.drainPermits();
    return any;
  }

  /**
   * Checks that all could be passed on until now.
   *
   * @throws IOException if the input cannot be read
   */
  void check() throws IOException {
    if (unreadable != null) {
      throw new IOException(unreadable.getMessage(), unreadable);
    }
    if (unwritable != null) {
      throw unwritable;
    }
  }

  /**
   * Passes on nothing more, and returns when the agent is asked for nothing more. An agent that
   * does not say that a piece has been written is not waited for.
   */
  void close() {
    closed = true;
    thread.interrupt();
    synchronized (asking) {
      passedOn.release();
    }
  }
}
