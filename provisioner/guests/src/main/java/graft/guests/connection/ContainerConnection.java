package graft.guests.connection;

import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A connection to a container: programs are started in its namespaces and its cgroup, as its root.
 *
 * <p>Files are written and read by programs in the container, never by way of its root folder on
 * the host: there a link that the container made would lead anywhere on the host.
 */
public final class ContainerConnection implements GuestConnection {
  private static final Duration FILE = Duration.ofMinutes(10);
  private static final byte[] NOTHING = new byte[0];

  /**
   * Succeeds once init has started what it starts at boot, where init is systemd; at once for any
   * other init. A container with a network card of libvirt's is ready once it has a route; one with
   * the interface of a device configures it when and as it likes. Until init runs, process 1 is
   * libvirt's.
   */
  private static final String READY =
      """
      case $(readlink /proc/1/exe) in
        */libvirt_lxc) exit 1 ;;
        */systemd) case $(systemctl is-system-running 2>/dev/null) in running | degraded) ;; *) exit 1 ;; esac ;;
      esac
      for card in /sys/class/net/*; do
        [ "${card##*/}" = lo ] || [ -e "$card/device" ] && continue
        { read -r header; read -r route; } </proc/net/route && [ -n "$route" ] || exit 1
      done
      """;

  private final Guest guest;

  public ContainerConnection(Guest guest) {
    this.guest = guest;
  }

  /**
   * Whether the container's first process has ended. If another process of the container did not
   * end within seconds of being killed, like one that waits for a disk, libvirt gives up and says
   * that the container runs, until somebody ends the container.
   */
  public boolean hasEnded() {
    return ContainerProcess.init(guest.process()).isEmpty();
  }

  private ContainerProcess enter(List<String> words) {
    return entered(() -> ContainerProcess.start(guest.process(), words));
  }

  /** Starts something in the container. */
  private interface Entry<T> {
    T now() throws IOException;
  }

  private <T> T entered(Entry<T> start) {
    try {
      return start.now();
    } catch (HypervisorException e) {
      throw new GuestConnectionException(e.getMessage(), "", true, e);
    } catch (IOException e) {
      throw new GuestConnectionException(
          "cannot enter the container '" + guest.name() + "': " + e.getMessage(),
          "is nsenter there (Debian: util-linux), and is the container running?",
          true,
          e);
    }
  }

  @Override
  public boolean answers(Duration timeout) {
    try {
      return run(List.of("/bin/sh", "-c", READY), NOTHING, timeout).succeeded();
    } catch (GuestConnectionException e) {
      if (e.unresponsive()) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public Ended run(List<String> words, byte[] input, Duration timeout) {
    KeptOutput output = new KeptOutput();
    KeptOutput errors = new KeptOutput();
    int code =
        finish(enter(words), words, new ByteArrayInputStream(input), output, errors, timeout);
    return new Ended(code, output, errors, output.isTruncated() || errors.isTruncated());
  }

  private static int finish(
      ContainerProcess process,
      List<String> words,
      InputStream input,
      OutputStream output,
      OutputStream errors,
      Duration timeout) {
    try {
      return process
          .finish(input, output, errors, timeout)
          .orElseThrow(
              () ->
                  GuestConnectionException.late(
                      "'" + words.get(0) + "' did not end within " + timeout.toSeconds() + " s",
                      "allow more time, or find out why it hangs",
                      null));
    } catch (InterruptedException e) {
      process.stop();
      Thread.currentThread().interrupt();
      throw new GuestConnectionException("interrupted", "", false, e);
    }
  }

  @Override
  public GuestProcess start(List<String> words, Optional<InputStream> given) {
    InputStream input = given.orElseGet(InputStream::nullInputStream);
    ContainerProcess process = enter(words);
    return new GuestProcess() {
      @Override
      public int await(OutputStream output, OutputStream errors, Duration timeout)
          throws IOException {
        int code = finish(process, words, input, output, new KeptOutput(errors), timeout);
        process.checkOutput();
        return code;
      }

      @Override
      public void stop() {
        process.stop();
      }
    };
  }

  @Override
  public TerminalSession start(List<String> words, LocalTerminal terminal) {
    return entered(
        () ->
            TerminalProgram.start(
                words.get(0), ContainerProcess.onTerminal(guest.process(), words)));
  }

  @Override
  public void put(InputStream content, String path, int mode) throws IOException {
    String octal = String.format(Locale.ROOT, "%o", mode);
    String script = "umask 077 && : >\"$1\" && chmod \"$2\" \"$1\" && cat >\"$1\"";
    List<String> words = List.of("/bin/sh", "-c", script, "sh", path, octal);
    KeptOutput said = new KeptOutput();
    ContainerProcess process = enter(words);
    int code = finish(process, words, content, said, said, FILE);
    process.checkInput();
    if (code != 0) {
      throw failed("cannot write " + path, said);
    }
  }

  @Override
  public void get(String path, OutputStream to) throws IOException {
    List<String> words = List.of("cat", "--", path);
    KeptOutput said = new KeptOutput();
    ContainerProcess process = enter(words);
    int code = finish(process, words, InputStream.nullInputStream(), to, said, FILE);
    process.checkWholeOutput();
    if (code != 0) {
      throw failed("cannot read " + path, said);
    }
  }

  private static GuestConnectionException failed(String what, KeptOutput said) {
    String why = new Ended(0, new ByteArrayOutputStream(), said, false).said();
    return new GuestConnectionException(what + " in the container: " + why, "", false, null);
  }
}
