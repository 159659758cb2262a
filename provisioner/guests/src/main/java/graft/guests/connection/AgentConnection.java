package graft.guests.connection;

import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.AgentProcess;
import graft.hypervisors.libvirt.AgentResult;
import graft.hypervisors.libvirt.AgentTerminal;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestAgent;
import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A guest connection by the QEMU guest agent, which needs no network. */
public final class AgentConnection implements GuestConnection {
  private final GuestAgent agent;

  public AgentConnection(Guest guest) {
    this(guest.agent());
  }

  AgentConnection(GuestAgent agent) {
    this.agent = agent;
  }

  @Override
  public boolean answers(Duration timeout) {
    try {
      return agent.ping(timeout);
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  @Override
  public Ended run(List<String> words, byte[] input, Duration timeout) {
    String[] arguments = words.subList(1, words.size()).toArray(String[]::new);
    AgentCommand command = AgentCommand.of(words.get(0), arguments).withTimeout(timeout);
    try {
      AgentResult ended = agent.exec(input.length == 0 ? command : command.withInput(input));
      int code = ended.exitCode().orElseGet(() -> 128 + ended.signal().orElse(0));
      return new Ended(code, bytes(ended.output()), bytes(ended.errorOutput()), ended.truncated());
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  @Override
  public GuestProcess start(List<String> words, Optional<InputStream> input) {
    AgentProcess process = started(() -> agent.start(words, input));
    return new GuestProcess() {
      @Override
      public int await(OutputStream output, OutputStream errors, Duration timeout)
          throws IOException {
        return ended(process, output, errors, timeout);
      }

      @Override
      public void stop() {
        process.stop();
      }
    };
  }

  @Override
  public TerminalSession start(List<String> words, LocalTerminal terminal) throws IOException {
    String type = LocalTerminal.type(System.getenv());
    AgentTerminal theirs = new AgentTerminal(type, terminal::size);
    CompletableFuture<AgentProcess> started = new CompletableFuture<>();
    InputStream typed = new EscapedInput(terminal.input(), () -> started.join().stop());
    terminal.raw();
    AgentProcess process = started(() -> agent.start(words, typed, theirs));
    started.complete(process);
    return new TerminalSession() {
      @Override
      public int await(Duration timeout) throws IOException {
        OutputStream shown = terminal.output();
        return ended(process, shown, shown, timeout);
      }

      @Override
      public void stop() {
        process.stop();
      }
    };
  }

  private static AgentProcess started(Supplier<AgentProcess> start) {
    try {
      return start.get();
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  private static int ended(
      AgentProcess process, OutputStream output, OutputStream errors, Duration timeout)
      throws IOException {
    try {
      return process.await(output, errors, timeout);
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  @Override
  public void put(InputStream content, String path, int mode) throws IOException {
    // The agent creates files with its own umask, so that the file gets its mode before its
    // content.
    String octal = String.format(Locale.ROOT, "%o", mode);
    Ended made =
        run(
            List.of(
                "/bin/sh", "-c", "umask 077; : >\"$1\" && chmod \"$2\" \"$1\"", "sh", path, octal),
            new byte[0],
            Duration.ofSeconds(60));
    if (!made.succeeded()) {
      throw new GuestConnectionException(
          "cannot write " + path + " in the guest: " + made.said(), "", false, null);
    }
    try {
      agent.writeFile(path, content);
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  @Override
  public void get(String path, OutputStream to) throws IOException {
    try {
      agent.readFile(path, to);
    } catch (HypervisorException e) {
      throw failure(e);
    }
  }

  private static GuestConnectionException failure(HypervisorException e) {
    if (e instanceof AgentException agent && agent.late()) {
      return GuestConnectionException.late(e.getMessage(), "", e);
    }
    boolean away = e instanceof AgentException agent && agent.unresponsive();
    return new GuestConnectionException(e.getMessage(), "", away, e);
  }

  private static ByteArrayOutputStream bytes(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(bytes);
    return out;
  }
}
