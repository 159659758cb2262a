package graft.guests.connection;

import graft.common.program.HostProgram;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.InterfaceAddresses;
import graft.hypervisors.libvirt.IpAddress;
import graft.hypervisors.libvirt.calls.AddressSource;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A guest connection by the OpenSSH client. The host key of a guest that Graft made is accepted at
 * the first contact and must stay the same; that of any other machine must be known before.
 */
public final class SshConnection implements GuestConnection {
  /**
   * Asks whether the guest answers. A guest that does not end even this in time may do so later.
   */
  private static final List<String> PROBE = List.of("true");

  /** The exit code of ssh for its own errors (ssh(1)). */
  private static final int SSH_FAILED = 255;

  private static final int SSH_PORT = 22;

  private static final Duration FILE = Duration.ofMinutes(10);

  private final SshLogin login;
  private final Optional<HostAddress> address;
  private final List<String> options;
  private final String program;

  SshConnection(SshLogin login, Optional<HostAddress> address) {
    this(login, address, SshOptions.words(login), "ssh");
  }

  private SshConnection(
      SshLogin login, Optional<HostAddress> address, List<String> options, String program) {
    this.login = login;
    this.address = address;
    this.options = options;
    this.program = program;
  }

  /**
   * Connects to a machine that Graft did not make.
   *
   * @param login with an address, and a file that has the machine's host key
   */
  public static SshConnection toKnown(SshLogin login) {
    return toKnown(login, "ssh");
  }

  /** Connects by another program than ssh, for tests. */
  static SshConnection toKnown(SshLogin login, String program) {
    return new SshConnection(login, login.address(), SshOptions.wordsForKnown(login), program);
  }

  /** Connects to the address in the login, or to the address that libvirt reports. */
  public static SshConnection to(Guest guest, SshLogin login) {
    return new SshConnection(login, address(guest, login.address()));
  }

  /** The address of a guest: the given one, or the one that libvirt reports. */
  public static Optional<HostAddress> address(Guest guest, Optional<HostAddress> given) {
    return given.or(() -> leased(guest::addresses).map(HostAddress::of));
  }

  /**
   * The first IPv4 address that libvirt assigned to a guest by DHCP, or that its agent reports. An
   * address of this machine is rejected: a guest that reports such an address would make Graft set
   * up this machine instead of the guest.
   */
  static Optional<IpAddress> leased(Function<AddressSource, List<InterfaceAddresses>> known) {
    for (AddressSource source : List.of(AddressSource.LEASE, AddressSource.AGENT)) {
      try {
        for (InterfaceAddresses card : known.apply(source)) {
          for (InterfaceAddresses.Address one : card.addresses()) {
            if (one.ip().isIpv4() && one.ip().isElsewhere()) {
              return Optional.of(one.ip());
            }
          }
        }
      } catch (HypervisorException e) {
        // try the next source
      }
    }
    return Optional.empty();
  }

  /**
   * The address of the guest.
   *
   * @throws GuestConnectionException if the address is unknown
   */
  public HostAddress address() {
    return address.orElseThrow(
        () ->
            new GuestConnectionException(
                "no address of the guest is known that this host can connect to",
                "put it on a libvirt network with DHCP, or write setup: {ssh: {address: ...}}",
                true,
                null));
  }

  private String who() {
    return login.user() + "@" + address();
  }

  @Override
  public boolean answers(Duration timeout) {
    if (address.isEmpty()) {
      return false;
    }
    Ended ended;
    try {
      ended = run(PROBE, new byte[0], timeout);
    } catch (GuestConnectionException e) {
      if (e.unresponsive() || e.late()) {
        return false;
      }
      throw e;
    }
    if (!ended.succeeded()) {
      throw new GuestConnectionException(
          who() + " can log in and not become root: " + ended.said(),
          "let it use sudo without a password, or log in as root",
          false,
          null);
    }
    return true;
  }

  @Override
  public Ended run(List<String> words, byte[] input, Duration timeout) {
    KeptOutput output = new KeptOutput();
    KeptOutput errors = new KeptOutput();
    int code = ssh(words, new ByteArrayInputStream(input), output, errors, timeout);
    return new Ended(code, output, errors, output.isTruncated() || errors.isTruncated());
  }

  /** The program ends with its SSH session, at the latest when it writes its next output. */
  @Override
  public GuestProcess start(List<String> words, Optional<InputStream> given) {
    InputStream input = given.orElseGet(InputStream::nullInputStream);
    return new GuestProcess() {
      @Override
      public int await(OutputStream output, OutputStream errors, Duration timeout) {
        return ssh(words, input, output, new KeptOutput(errors), timeout);
      }

      @Override
      public void stop() {
        // ssh is in this process's group, which Ctrl-C ends.
      }
    };
  }

  /** ssh has its own way out, {@code ~.}, and asks for a terminal of the same size and type. */
  @Override
  public TerminalSession start(List<String> words, LocalTerminal terminal) throws IOException {
    List<String> command = new ArrayList<>(List.of(program, "-tt"));
    command.addAll(arguments(words));
    TerminalProgram ssh = TerminalProgram.start(words.get(0), new ProcessBuilder(command));
    return new TerminalSession() {
      @Override
      public int await(Duration timeout) {
        int code = ssh.await(timeout);
        if (code == SSH_FAILED) {
          String next = "the message above is ssh's own";
          throw new GuestConnectionException("ssh " + who() + " failed", next, true, null);
        }
        return code;
      }

      @Override
      public void stop() {
        ssh.stop();
      }
    };
  }

  @Override
  public void put(InputStream content, String path, int mode) throws IOException {
    String octal = String.format(Locale.ROOT, "%o", mode);
    String script = "umask 077 && : >\"$1\" && chmod \"$2\" \"$1\" && cat >\"$1\"";
    KeptOutput said = new KeptOutput();
    int code = ssh(List.of("/bin/sh", "-c", script, "sh", path, octal), content, said, said, FILE);
    if (code != 0) {
      throw new GuestConnectionException(
          "cannot write " + path + " in the guest: " + text(said), "", false, null);
    }
  }

  @Override
  public void get(String path, OutputStream to) throws IOException {
    KeptOutput said = new KeptOutput();
    if (ssh(List.of("cat", "--", path), InputStream.nullInputStream(), to, said, FILE) != 0) {
      throw new GuestConnectionException(
          "cannot read " + path + " in the guest: " + text(said), "", false, null);
    }
  }

  private int ssh(
      List<String> words,
      InputStream input,
      OutputStream output,
      KeptOutput errors,
      Duration timeout) {
    HostProgram.End end;
    try {
      end = HostProgram.of(program, arguments(words)).run(timeout, input, output, errors);
    } catch (HostProgram.BrokenInputException e) {
      throw new GuestConnectionException(
          "'"
              + words.get(0)
              + "' in "
              + address()
              + " did not get all that was to be sent: "
              + e.getMessage(),
          "",
          false,
          e);
    } catch (IOException e) {
      throw new GuestConnectionException(
          "ssh to " + address() + " could not be run: " + e.getMessage(),
          "is openssh-client installed?",
          false,
          e);
    }
    if (end.late()) {
      throw GuestConnectionException.late(
          "'" + words.get(0) + "' did not end within " + timeout.toSeconds() + " s in " + address(),
          "allow more time, or find out why it hangs",
          null);
    }
    if (end.code() == SSH_FAILED) {
      throw new GuestConnectionException(
          "ssh " + who() + ": " + text(errors),
          next(text(errors)),
          mayAnswerLater(text(errors)),
          null);
    }
    return end.code();
  }

  private static boolean mayAnswerLater(String said) {
    return Stream.of("Permission denied", "HOST IDENTIFICATION", "Host key verification failed")
        .noneMatch(said::contains);
  }

  /** What to do next, by ssh's own words for its errors. */
  private String next(String said) {
    if (said.contains("HOST IDENTIFICATION")) {
      return "if the machine was really set up anew, delete its old key: ssh-keygen -R "
          + known()
          + " -f "
          + login.knownHosts();
    } else if (said.contains("Host key verification failed")) {
      return "compare the machine's key with the one that its console shows, then add it to "
          + login.knownHosts()
          + ": ssh-keyscan -p "
          + login.port()
          + " "
          + address();
    } else if (said.contains("Permission denied")) {
      return login
          .key()
          .map(
              key ->
                  ("let %s log in with the key %s that was tried: ssh-copy-id -i %s -p %d %s; or name"
                          + " another file in 'key'")
                      .formatted(who(), key, key, login.port(), who()))
          .orElse(
              "let "
                  + who()
                  + " log in with a key of this user: ssh-copy-id, or name one in 'key'");
    } else if (said.contains("Could not resolve")) {
      return "correct the name, or write the machine's address in numbers";
    }
    return "does the machine run an SSH server, and does it know the key?";
  }

  /** The machine's name in a file of known hosts. */
  private String known() {
    return login.port() == SSH_PORT
        ? address().text()
        : "'[" + address() + "]:" + login.port() + "'";
  }

  /**
   * The arguments of ssh. The options end before the address, because the address comes from a
   * guest.
   */
  List<String> arguments(List<String> words) {
    List<String> arguments = new ArrayList<>(options);
    arguments.addAll(List.of("-p", String.valueOf(login.port()), "-l", login.user().text()));
    arguments.addAll(List.of("--", address().text()));
    // The guest's shell splits the command line into words again.
    String line = words.stream().map(SshOptions::quoted).collect(Collectors.joining(" "));
    arguments.add(login.user().isRoot() ? line : "sudo -n -- " + line);
    return arguments;
  }

  private static String text(KeptOutput said) {
    return new Ended(0, new ByteArrayOutputStream(), said, false).said();
  }
}
