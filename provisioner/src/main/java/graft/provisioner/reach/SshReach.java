package graft.provisioner.reach;

import graft.hypervisors.libvirt.AddressSource;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.HypervisorException;
import graft.hypervisors.libvirt.InterfaceAddresses;
import graft.provisioner.program.HostProgram;
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
import java.util.stream.Collectors;

/**
 * Reaches a guest by OpenSSH's own client. The guest's host key is taken at the first contact and
 * must stay the same.
 */
public final class SshReach implements Reach {
  /** What ssh ends with when it is ssh itself that failed (ssh(1)). */
  private static final int SSH_FAILED = 255;

  private static final Duration FILE = Duration.ofMinutes(10);

  private final SshLogin login;
  private final String address;

  private SshReach(SshLogin login, String address) {
    this.login = login;
    this.address = address;
  }

  /** Reaches a guest where the login says, or else where libvirt knows it to be. */
  public static SshReach to(Guest guest, SshLogin login) {
    return new SshReach(login, login.address().or(() -> leased(guest)).orElse(""));
  }

  /** The first IPv4 address that libvirt gave a guest by DHCP, or that its agent tells. */
  public static Optional<String> leased(Guest guest) {
    for (AddressSource source : List.of(AddressSource.LEASE, AddressSource.AGENT)) {
      try {
        for (InterfaceAddresses card : guest.addresses(source)) {
          for (InterfaceAddresses.Address one : card.addresses()) {
            if (!one.text().contains(":") && !one.text().startsWith("127.")) {
              return Optional.of(one.text());
            }
          }
        }
      } catch (HypervisorException e) {
        // the next source may know it
      }
    }
    return Optional.empty();
  }

  /** The options that ssh and Ansible are both given. */
  public static List<String> options(SshLogin login) {
    List<String> options = new ArrayList<>();
    for (String option :
        List.of(
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=10",
            "StrictHostKeyChecking=accept-new",
            "UserKnownHostsFile=" + login.knownHosts())) {
      options.add("-o");
      options.add(option);
    }
    if (login.key().isPresent()) {
      options.addAll(List.of("-o", "IdentitiesOnly=yes", "-i", login.key().get().toString()));
    }
    return options;
  }

  public String address() {
    if (address.isEmpty()) {
      throw new ReachException(
          "no address of the guest is known that this host reaches",
          "put it on a libvirt network with DHCP, or write setup: {ssh: {address: ...}}",
          true,
          null);
    }
    return address;
  }

  @Override
  public boolean answers(Duration timeout) {
    if (address.isEmpty()) {
      return false;
    }
    Ended ended;
    try {
      ended = run(List.of("true"), new byte[0], timeout);
    } catch (ReachException e) {
      if (e.isAway()) {
        return false;
      }
      throw e;
    }
    if (!ended.succeeded()) {
      throw new ReachException(
          login.user() + "@" + address + " can log in and not become root: " + ended.said(),
          "let it use sudo without a password, or log in as root",
          false,
          null);
    }
    return true;
  }

  @Override
  public Ended run(List<String> words, byte[] input, Duration timeout) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    int code = ssh(words, new ByteArrayInputStream(input), output, errors, timeout);
    return new Ended(code, output, errors, false);
  }

  @Override
  public void put(InputStream content, String path, int mode) throws IOException {
    String octal = String.format(Locale.ROOT, "%o", mode);
    String script = "umask 077 && : >\"$1\" && chmod \"$2\" \"$1\" && cat >\"$1\"";
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    int code = ssh(List.of("/bin/sh", "-c", script, "sh", path, octal), content, said, said, FILE);
    if (code != 0) {
      throw new ReachException("cannot write " + path + " in the guest: " + said, "", false, null);
    }
  }

  @Override
  public void get(String path, OutputStream to) throws IOException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    if (ssh(List.of("cat", "--", path), InputStream.nullInputStream(), to, said, FILE) != 0) {
      throw new ReachException("cannot read " + path + " in the guest: " + said, "", false, null);
    }
  }

  private int ssh(
      List<String> words,
      InputStream input,
      OutputStream output,
      OutputStream errors,
      Duration timeout) {
    List<String> arguments = new ArrayList<>(options(login));
    arguments.addAll(
        List.of("-p", String.valueOf(login.port()), "-l", login.user(), address(), "--"));
    // The far side's shell splits what it gets.
    String line = words.stream().map(SshReach::quoted).collect(Collectors.joining(" "));
    arguments.add(login.user().equals("root") ? line : "sudo -n -- " + line);
    HostProgram.End end;
    try {
      end = HostProgram.of("ssh", arguments).run(timeout, input, output, errors);
    } catch (IOException e) {
      throw new ReachException(
          "ssh to " + address + " could not be run: " + e.getMessage(),
          "is openssh-client installed?",
          false,
          e);
    }
    if (end.late()) {
      throw new ReachException(
          "'" + words.get(0) + "' did not end within " + timeout.toSeconds() + " s in " + address,
          "allow more time, or look why it hangs",
          false,
          null);
    }
    if (end.code() == SSH_FAILED) {
      throw new ReachException(
          "ssh " + login.user() + "@" + address + ": " + errors.toString().strip(),
          "does the guest run an SSH server, and does it know the key?",
          !errors.toString().contains("Permission denied")
              && !errors.toString().contains("HOST IDENTIFICATION"),
          null);
    }
    return end.code();
  }

  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
