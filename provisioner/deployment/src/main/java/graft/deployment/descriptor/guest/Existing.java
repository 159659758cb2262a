package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** A machine that exists already and that Graft did not make: exactly one of ssh and domain. */
@Doc(
    "A Linux machine that exists already: a virtual machine of any hypervisor or cloud, or bare"
        + " metal, by ssh; or a domain of this host's libvirt that somebody else made, by domain."
        + " It gets the client, and undo gives back what was there before.")
public record Existing(
    @Doc(
            "The user and the machine: USER@HOST. Another user than root must be able to use sudo"
                + " without a password.")
        Optional<SshTarget> ssh,
    @Doc(
            "The name of a libvirt domain of KVM or QEMU on this host. It is never defined,"
                + " started, stopped or deleted.")
        Optional<DomainName> domain,
    @Default("22") @Range(min = 1, max = 65535) @Doc("The port of the SSH server of ssh.") int port,
    @Doc("The file of the private key for ssh. If absent, the keys that ssh uses by itself.")
        Optional<String> key,
    @Doc(
            "The file with the machine's host key, which is never accepted unseen. If absent,"
                + " ~/.ssh/known_hosts; ssh also reads /etc/ssh/ssh_known_hosts.")
        Optional<String> knownHosts,
    @Doc(
            "The address of this host as the machine reaches it, where the two differ (NAT). If"
                + " absent, the address from which this host connects to the machine.")
        Optional<HostAddress> server) {

  /**
   * The login of a machine that is reached by SSH alone.
   *
   * @param resolve makes a path of the descriptor absolute
   */
  public SshLogin login(Function<String, Path> resolve) {
    SshTarget target = ssh.orElseThrow();
    return new SshLogin(
        target.user(), Optional.of(target.host()), port, key.map(resolve), known(resolve));
  }

  /**
   * The login of a domain's guest, from its set-up.
   *
   * @param resolve makes a path of the descriptor absolute
   */
  public SshLogin login(Ssh given, Function<String, Path> resolve) {
    return new SshLogin(
        given.user(), given.address(), given.port(), given.key().map(resolve), known(resolve));
  }

  private Path known(Function<String, Path> resolve) {
    return knownHosts
        .map(resolve)
        .orElse(Path.of(System.getProperty("user.home"), ".ssh", "known_hosts"));
  }

  /** The machine, for display: {@code root@192.0.2.7}, or {@code domain web}. */
  public String machine() {
    return ssh.map(SshTarget::toString).orElseGet(() -> "domain " + domain.orElseThrow());
  }
}
