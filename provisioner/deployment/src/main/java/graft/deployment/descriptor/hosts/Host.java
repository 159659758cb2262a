package graft.deployment.descriptor.hosts;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.SshTarget;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * A host of a deployment over many hosts.
 *
 * <pre>{@code
 * hosts:
 *   - {name: kvm1, ssh: root@192.0.2.7}
 * }</pre>
 */
@Doc("A host of a deployment over many hosts, on which Graft runs itself by SSH.")
public record Host(
    @Doc("Its name in this descriptor.") Name name,
    @Doc(
            "The user and the machine: USER@HOST. Another user than root must be able to use sudo"
                + " without a password.")
        SshTarget ssh,
    @Default("22") @Range(min = 1, max = 65535) @Doc("The port of its SSH server.") int port,
    @Doc("The file of the private key for ssh. If absent, the keys that ssh uses by itself.")
        Optional<String> key,
    @Doc(
            "The file with the host's key, which is never accepted unseen. If absent,"
                + " ~/.ssh/known_hosts; ssh also reads /etc/ssh/ssh_known_hosts.")
        Optional<String> knownHosts,
    @Doc(
            "The address at which its servers serve guests of other hosts. If absent, the machine"
                + " of ssh.")
        Optional<HostAddress> address,
    @Default(HostFolder.DEFAULT)
        @Doc("The folder on the host that gets Graft's programs, a folder for each version.")
        HostFolder folder) {

  /** Where its servers serve guests of other hosts. */
  public HostAddress served() {
    return address.orElse(ssh.host());
  }

  /**
   * The login of the host.
   *
   * @param resolve makes a path of the descriptor absolute
   */
  public SshLogin login(Function<String, Path> resolve) {
    Path known =
        knownHosts
            .map(resolve)
            .orElse(Path.of(System.getProperty("user.home"), ".ssh", "known_hosts"));
    return new SshLogin(ssh.user(), Optional.of(ssh.host()), port, key.map(resolve), known);
  }
}
