package graft.deployment.step.machine;

import graft.deployment.step.StepFailure;
import graft.guests.connection.AgentConnection;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.Optional;
import java.util.UUID;

/**
 * A libvirt domain that somebody else made. A domain that was deleted and made again under the same
 * name has another UUID, and is another domain.
 *
 * @param uri the connection to libvirt
 * @param domain its name when the step was planned
 * @param ssh the login; absent if its guest agent is used
 */
public record DomainTarget(String uri, String domain, String uuid, Optional<SshLogin> ssh) {
  /** The same domain, with a login; without one, by its guest agent. */
  public DomainTarget by(Optional<SshLogin> login) {
    return new DomainTarget(uri, domain, uuid, login);
  }

  /** The domain, whatever its name is now; empty if it is gone. */
  public Optional<Guest> find(LibvirtHost host) {
    return host.guest(UUID.fromString(uuid));
  }

  /** The domain. */
  Guest get(LibvirtHost host) {
    return find(host)
        .orElseThrow(
            () ->
                new StepFailure(
                    "the domain '" + domain + "' is gone from libvirt at " + host.uri(),
                    "Graft makes no domains that are not its own: remove the guest from the"
                        + " descriptor, or make the domain again"));
  }

  /** The connection to its guest: SSH if there is a login, else the agent. */
  public GuestConnection connection(LibvirtHost host) {
    return ssh.isPresent() ? SshConnection.toKnown(ssh.get()) : new AgentConnection(get(host));
  }
}
