package graft.deployment.descriptor.hosts;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.Name;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.IpAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * A host of a deployment over many hosts.
 *
 * <pre>{@code
 * hosts:
 *   - {name: kvm1, ssh: root@192.0.2.7}
 *   - {name: xen1, ssh: xen+ssh://root@192.0.2.8/system}
 * }</pre>
 */
@Doc("A host of a deployment over many hosts, on which Graft runs itself by SSH.")
public record Host(
    @Doc("Its name in this descriptor.") Name name,
    @Doc(
            "The user and the machine: USER@HOST. Another user than root must be able to use sudo"
                + " without a password. Or libvirt's URI of the host,"
                + " qemu+ssh://USER@HOST:PORT/system, also with xen or lxc: it chooses the host's"
                + " hypervisor, and its keyfile and known_hosts stand for key and known-hosts.")
        HostSsh ssh,
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

  private static final int SSH_PORT = 22;

  /**
   * The one host of a deployment that names none. Its name is the first part of the machine's name,
   * or {@code host-192-0-2-7} for an address.
   */
  public static Host only(HostSsh ssh) {
    String text = ssh.host().text().toLowerCase(Locale.ROOT);
    String name =
        IpAddress.find(text).isPresent()
            ? "host-" + text.replaceAll("[.:]", "-").replaceAll("-+$", "")
            : text.replaceFirst("\\..*", "");
    return new Host(
        Name.parse(name),
        ssh,
        SSH_PORT,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        HostFolder.parse(HostFolder.DEFAULT));
  }

  /** A copy with another name and another folder. */
  public Host with(Name other, HostFolder programs) {
    return new Host(other, ssh, port, key, knownHosts, address, programs);
  }

  /** Where its servers serve guests of other hosts. */
  public HostAddress served() {
    return address.orElse(ssh.host());
  }

  /** The port of its SSH server: that of the URI, if this names one. */
  public int sshPort() {
    return ssh.port().orElse(port);
  }

  /**
   * The login of the host.
   *
   * @param resolve makes a path of the descriptor absolute
   */
  public SshLogin login(Function<String, Path> resolve) {
    Path known =
        ssh.knownHosts()
            .or(() -> knownHosts)
            .map(resolve)
            .orElse(Path.of(System.getProperty("user.home"), ".ssh", "known_hosts"));
    return new SshLogin(
        ssh.account(),
        Optional.of(ssh.host()),
        sshPort(),
        ssh.key().or(() -> key).map(resolve),
        known);
  }
}
