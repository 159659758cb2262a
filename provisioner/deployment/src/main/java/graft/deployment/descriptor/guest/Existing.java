package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** A machine that exists already and that Graft did not make. */
@Doc(
    "A Linux machine that exists already: a virtual machine of any hypervisor or cloud, or bare"
        + " metal. It gets the client, and undo gives back what was there before.")
public record Existing(
    @Doc(
            "The user and the machine: USER@HOST. Another user than root must be able to use sudo"
                + " without a password.")
        SshTarget ssh,
    @Default("22") @Range(min = 1, max = 65535) @Doc("The port of its SSH server.") int port,
    @Doc("The file of the private key. If absent, the keys that ssh uses by itself.")
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
   * The login.
   *
   * @param resolve makes a path of the descriptor absolute
   */
  public SshLogin login(Function<String, Path> resolve) {
    return new SshLogin(
        ssh.user(),
        Optional.of(ssh.host()),
        port,
        key.map(resolve),
        knownHosts
            .map(resolve)
            .orElse(Path.of(System.getProperty("user.home"), ".ssh", "known_hosts")));
  }
}
